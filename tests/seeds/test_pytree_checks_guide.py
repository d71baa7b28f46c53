"""Attribute updates and checks in the seed document ``module_and_pytree_guide.txt``.

flax 0.12.8 says "data" where the document still says "Arrays". Our messages may say more; the first
sentence of the document and the name of the attribute must be there.
"""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx

ARRAY = re.escape(repr(type(jnp.array(0))))


class Named(nnx.Pytree):
    def __init__(self, name: object) -> None:
        self.name = nnx.static(name)


def test_an_array_annotated_as_static_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"annotated with nnx\.static") as error:
        Named(name=jnp.array(123))
    assert re.search(
        rf"Found (data|Arrays) in value of type '{ARRAY}' annotated with nnx\.static\(\.\.\.\) "
        rf"when setting attribute 'name' of Pytree type '{re.escape(repr(Named))}'\.",
        str(error.value),
    )


def test_an_array_assigned_to_a_static_attribute_is_an_error_and_changes_nothing() -> None:
    foo = Named(name="mattjj")
    with pytest.raises(ValueError, match="Cannot assign data value") as error:
        foo.name = jnp.array(123)
    assert re.search(
        rf"Cannot assign data value of type '{ARRAY}' to static attribute 'name' of Pytree type "
        rf"'{re.escape(repr(Named))}'\. To override the status explicitly wrap the value with "
        r"nnx\.data on assignment:\s+_\.name = nnx\.data\(\.\.\.\)",
        str(error.value),
    )
    assert foo.name == "mattjj"
    assert jax.tree.leaves(foo) == []


class Foo(nnx.Pytree):
    def __init__(self, count: int) -> None:
        self.ls: list[jax.Array] = []  # treated as static
        for i in range(count):
            self.ls.append(jnp.array(i))  # append arrays into static attribute


def assert_five_remedies(text: str) -> None:
    first = re.compile(
        r"Found unexpected (data|Arrays) on value of type <class 'list'> in static attribute 'ls' "
        rf"of Pytree type '{re.escape(repr(Foo))}'\."
    )
    assert first.search(text)
    remedies = [
        r"1\. If the attribute is meant to be static, either remove the (data|Array) value or wrap "
        r"it in a static container\.",
        r"2\. Wrap the value with nnx\.data on assignment:\s+_\.ls = nnx\.data\(\.\.\.\)",
        r"3\. Annotate the class attribute with nnx\.(data|Data):\s+class Foo\(Pytree\):\s+"
        r"ls: (list = nnx\.data\(\)|nnx\.Data\[list\])",
        r"4\. If the container is a list or dict, try using nnx\.List\(\.\.\.\) or "
        r"nnx\.Dict\(\.\.\.\) instead\.",
        r"5\. Disable pytree for this class:\s+class Foo\(Pytree, pytree=False\):",
    ]
    assert re.search(r"\s+".join(remedies), text)


def test_arrays_that_entered_a_static_list_are_found_after_init_with_five_remedies() -> None:
    with pytest.raises(ValueError, match="Found unexpected") as error:
        Foo(5)
    assert_five_remedies(str(error.value))


def test_check_pytree_repeats_the_check_at_any_time() -> None:
    foo = Foo(0)
    nnx.check_pytree(foo)
    foo.ls.append(jnp.array(0))
    with pytest.raises(ValueError, match="Found unexpected") as error:
        nnx.check_pytree(foo)
    assert_five_remedies(str(error.value))
