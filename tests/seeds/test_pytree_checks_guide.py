"""Attribute updates and checks in the seed document ``module_and_pytree_guide.txt``.

flax 0.12.8 says "data" where the document still says "Arrays". Our messages may say more; the first
sentence of the document and the name of the attribute must be there.
"""

from __future__ import annotations

import re
import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx

from .printed import assert_printed, pytree_structure

ARRAY = re.escape(repr(type(jnp.array(0))))


def test_the_status_of_an_attribute_sticks_until_an_annotation_overrides_it() -> None:
    class Foo(nnx.Pytree):
        def __init__(self) -> None:
            self.a: object = jnp.array(1.0)  # data
            self.b: object = "Hello, world!"  # static
            self.c = nnx.data(3.14)  # data

    pytree = Foo()
    original = pytree_structure(pytree, "original")
    pytree.a = "🤔"  # data status doesn't change
    pytree.b = nnx.data(42)  # explicit annotation overrides status to data
    pytree.c = nnx.static(0.5)  # explicit annotation overrides status to static
    assert_printed(
        f"{original}\n{pytree_structure(pytree, 'updated')}",
        """
        original:
         - pytree.a = Array(1., dtype=float32, weak_type=True)
         - pytree.c = 3.14
        updated:
         - pytree.a = '🤔'
         - pytree.b = 42
        """,
    )


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


def test_annotations_inside_a_plain_container_are_an_error() -> None:
    class Nested(nnx.Pytree):
        def __init__(self) -> None:
            self.a = [nnx.data(1), nnx.static(2)]  # annotations in sub-pytree

    with pytest.raises(ValueError, match="Found unexpected tags") as error:
        Nested()
    text = str(error.value)
    assert re.search(
        r"Found unexpected tags \{('static', 'data'|'data', 'static')\} on attribute "
        r"'Nested\.a'\.\s+Values from nnx\.data\(\.\.\.\) and\s+nnx\.static\(\.\.\.\) should be "
        r"assigned to nnx\.Pytree attributes directly, they should not be inside other structures\.",
        text,
    )
    assert "Got value of type '<class 'list'>' on Pytree of type" in text


def test_a_captured_pytree_cannot_be_mutated_inside_a_transform() -> None:
    class Counter(nnx.Pytree):
        def __init__(self) -> None:
            self.count = nnx.data(0)

    foo = Counter()

    @jax.vmap  # or jit, grad, shard_map, pmap, scan, etc.
    def increment(n: jax.Array) -> None:
        # foo passed as capture
        foo.count += 1  # error!

    with pytest.raises(Exception, match=r"Cannot mutate 'Counter' from different trace level"):
        increment(jnp.arange(5))
    assert foo.count == 0


def test_the_trace_level_error_names_the_attribute_too() -> None:
    foo = Named("mattjj")

    @jax.jit
    def rename(n: jax.Array) -> jax.Array:
        foo.name = "other"
        return n

    with pytest.raises(Exception, match=r"Cannot mutate 'Named' from different trace.*'name'"):
        rename(jnp.array(0))
    assert foo.name == "mattjj"


@pytest.mark.parametrize("transform", [jax.jit, jax.vmap, jax.grad], ids=["jit", "vmap", "grad"])
def test_a_captured_variable_cannot_be_mutated_inside_a_transform(
    transform: tp.Callable[..., tp.Any],
) -> None:
    count = nnx.Param(jnp.array(0.0))

    def increment(n: jax.Array) -> jax.Array:
        count[...] += 1.0  # error!
        return n

    with pytest.raises(Exception, match=r"Cannot mutate '?Param.*different trace level"):
        transform(increment)(jnp.array([2.0]) if transform is jax.vmap else jnp.array(2.0))
    assert count[...] == 0.0
