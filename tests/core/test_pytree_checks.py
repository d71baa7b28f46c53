"""The checks of Pytrees: after ``__init__``, on demand, and what their errors say."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from typed_nnx.errors import (
    PytreeAttributeError,
)


def make(lib: Any, init: Any, **options: Any) -> Any:
    return type("Foo", (lib.Pytree,), {"__init__": init}, **options)


def appends_arrays(self: Any) -> None:
    self.ls = []
    for i in range(2):
        self.ls.append(jnp.array(i))


def appends_a_mark(self: Any) -> None:
    self.ls = []
    self.ls.append(nnx.data(1))


@both
@pytest.mark.parametrize("base", ["Pytree", "Module"])
def test_arrays_in_a_static_list_are_found_after_init(lib: Any, base: str) -> None:
    cls = type("Foo", (getattr(lib, base),), {"__init__": appends_arrays})
    with pytest.raises(ValueError, match="unexpected .* in static attribute 'ls'"):
        cls()


@both
def test_variables_and_modules_in_static_containers_are_found_after_init(lib: Any) -> None:
    for value in (lib.Param(1), lib.Module(), {"deep": [(lib.Param(1),)]}):

        def init(self: Any, value: Any = value) -> None:
            self.d = {}
            self.d["a"] = value

        with pytest.raises(ValueError, match="unexpected .* in static attribute 'd'"):
            make(lib, init)()


@both
def test_data_containers_may_grow_in_init(lib: Any) -> None:
    def init(self: Any) -> None:
        self.ls = lib.data([])
        self.ls.append(jnp.array(1))

    assert len(jax.tree.leaves(make(lib, init)())) == 1


@both
def test_no_check_without_pytree(lib: Any) -> None:
    node = make(lib, appends_arrays, pytree=False)()
    assert len(node.ls) == 2


@both
def test_the_check_runs_once_after_the_outermost_init(lib: Any) -> None:
    class Base(lib.Pytree):
        def __init__(self) -> None:
            self.ls: list[Any] = []
            self.ls.append(jnp.ones(1))

    class Repairs(Base):
        def __init__(self) -> None:
            super().__init__()
            self.ls = lib.data(self.ls)

    assert len(jax.tree.leaves(Repairs())) == 1


@both
def test_the_check_runs_after_post_init_of_a_dataclass(lib: Any) -> None:
    @dataclasses.dataclass
    class Foo(lib.Pytree):
        ls: list[Any]

        def __post_init__(self) -> None:
            self.ls.append(jnp.ones(1))

    with pytest.raises(ValueError, match="unexpected .* in static attribute 'ls'"):
        Foo([])


@both
def test_check_pytree_checks_on_demand(lib: Any) -> None:
    def init(self: Any) -> None:
        self.ls = []

    node = make(lib, init)()
    assert lib.check_pytree(node) is None
    node.ls.append(jnp.ones(1))
    with pytest.raises(ValueError, match="unexpected .* in static attribute 'ls'"):
        lib.check_pytree(node)


@both
def test_an_exception_in_init_comes_through(lib: Any) -> None:
    def init(self: Any) -> None:
        self.ls = []
        self.ls.append(jnp.ones(1))
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        make(lib, init)()


def test_check_pytree_of_something_else_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="check_pytree: got a int; expected an nnx.Pytree"):
        nnx.check_pytree(3)


def test_the_error_after_init_shows_five_remedies() -> None:
    with pytest.raises(PytreeAttributeError) as caught:
        make(nnx, appends_arrays)()
    text = str(caught.value)
    assert caught.value.attribute == "ls"
    for remedy in (
        "1. If the attribute is meant to be static",
        "2. Wrap the value with nnx.data on assignment:\n\n  _.ls = nnx.data(...)",
        "3. Annotate the class attribute with nnx.Data:\n\n  class Foo(Pytree):\n"
        "    ls: nnx.Data[list]",
        "4. If the container is a list or dict, try using nnx.List(...) or nnx.Dict(...)",
        "5. Disable pytree for this class:\n\n  class Foo(Pytree, pytree=False):",
    ):
        assert remedy in text


def test_a_mark_in_a_container_is_found_after_init() -> None:
    with pytest.raises(PytreeAttributeError, match="tags \\{'data'\\} on attribute 'Foo.ls'"):
        make(nnx, appends_a_mark)()


def test_both_marks_in_one_container_are_named() -> None:
    node: Any = nnx.Module()
    with pytest.raises(PytreeAttributeError, match="'static', 'data'") as caught:
        node.x = [nnx.data(1), {"a": nnx.static(2)}]
    assert list(caught.value.found) == ["static", "data"]
    assert (caught.value.attribute, caught.value.holder) == ("x", nnx.Module)


@pytest.mark.parametrize(
    ("kind", "steps", "text"),
    [
        (PytreeAttributeError, [lambda: nnx.static(jnp.ones(1))], "annotated with nnx.static"),
        (PytreeAttributeError, [lambda: 1, lambda: jnp.ones(1)], "to static attribute 'x'"),
        (
            PytreeAttributeError,
            [lambda: [nnx.Param(1)]],
            "remove the data values of type.s.: Param",
        ),
    ],
    ids=["static mark", "static attribute", "data in static"],
)
def test_each_error_names_attribute_class_and_fix(kind: Any, steps: Any, text: str) -> None:
    node = type("Foo", (nnx.Pytree,), {})()
    for step in steps[:-1]:
        node.x = step()
    with pytest.raises(kind, match=text) as caught:
        node.x = steps[-1]()
    assert "'x'" in str(caught.value)
    assert "Foo" in str(caught.value)
    assert "_.x = nnx.data(...)" in str(caught.value)
    assert isinstance(caught.value, ValueError)


@both
def test_a_container_may_hold_the_object_that_holds_it(lib: Any) -> None:
    node = type("Foo", (lib.Pytree,), {})()
    node.itself = lib.data([node])
    node.again = lib.data((node, {"node": node}))
    assert lib.clone(node).again[1]["node"].itself[0] is not node
