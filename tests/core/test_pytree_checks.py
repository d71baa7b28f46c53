"""The checks of Pytrees: after ``__init__``, on demand, and what their errors say."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from typed_nnx.errors import PytreeAttributeError


def make(lib: Any, init: Any, **options: Any) -> Any:
    return type("Foo", (lib.Pytree,), {"__init__": init}, **options)


def appends_arrays(self: Any) -> None:
    self.ls = []
    for i in range(2):
        self.ls.append(jnp.array(i))


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
def test_check_pytree_checks_on_demand(lib: Any) -> None:
    def init(self: Any) -> None:
        self.ls = []

    node = make(lib, init)()
    assert lib.check_pytree(node) is None
    node.ls.append(jnp.ones(1))
    with pytest.raises(ValueError, match="unexpected .* in static attribute 'ls'"):
        lib.check_pytree(node)


def test_check_pytree_of_something_else_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="check_pytree: got a int; expected an nnx.Pytree"):
        nnx.check_pytree(3)


def appends_a_mark(self: Any) -> None:
    self.ls = []
    self.ls.append(nnx.data(1))


def test_a_mark_in_a_container_is_found_after_init() -> None:
    with pytest.raises(PytreeAttributeError, match="tags \\{'data'\\} on attribute 'Foo.ls'"):
        make(nnx, appends_a_mark)()


def test_both_marks_in_one_container_are_named() -> None:
    node: Any = nnx.Module()
    with pytest.raises(PytreeAttributeError, match="'static', 'data'") as caught:
        node.x = [nnx.data(1), {"a": nnx.static(2)}]
    assert list(caught.value.found) == ["static", "data"]
    assert (caught.value.attribute, caught.value.holder) == ("x", nnx.Module)


# -- classes that are no pytrees -------------------------------------------------------------------


def plain_class(lib: Any, how: str) -> Any:
    if how == "Object":

        class Plain(lib.Object):
            pass

        return Plain

    return type("NoPytree", (lib.Pytree,), {}, pytree=False)


ways = pytest.mark.parametrize("how", ["Object", "pytree=False"])


@both
@ways
def test_nothing_is_checked(lib: Any, how: str) -> None:
    node = plain_class(lib, how)()
    node.a = [jnp.ones(1)]
    node.b = "text"
    node.b = jnp.ones(1)
    node.c = lib.data(1)
    node.d = lib.static((1, 2))
    node.e = {"x": lib.Param(1)}
    assert (node.c, node.d) == (1, (1, 2))
    state = lib.to_pure_dict(lib.state(node))
    assert set(state) == {"a", "b", "e"}


@both
def test_a_subclass_says_again_that_it_is_no_pytree(lib: Any) -> None:
    plain: Any = type("Plain", (lib.Pytree,), {}, pytree=False)
    again = type("Again", (plain,), {})
    still: Any = type("Still", (plain,), {}, pytree=False)
    assert [jax.tree_util.all_leaves([cls()]) for cls in (plain, again, still)] == [
        True, False, True,
    ]  # fmt: skip


@both
def test_subclasses_of_object_are_no_pytrees(lib: Any) -> None:
    class Plain(lib.Object):
        pass

    class Derived(Plain):
        pass

    class Mixed(lib.Pytree):
        pass

    class Both(Mixed, lib.Object):
        pass

    assert [jax.tree_util.all_leaves([cls()]) for cls in (Plain, Derived, Both)] == [True] * 3


@both
@pytest.mark.parametrize("how", ["Object", "pytree=False", "Module"])
def test_the_bookkeeping_can_be_read(lib: Any, how: str) -> None:
    node = type("Model", (lib.Module,), {})() if how == "Module" else plain_class(lib, how)()
    node.w, node.name = lib.Param(jnp.ones(2)), "name"
    statuses = dict(node._pytree__nodes)
    if how == "Module":
        assert statuses == {
            "_pytree__nodes": False, "_pytree__state": True, "w": True, "name": False,
        }  # fmt: skip
    assert hasattr(node._pytree__state, "trace_state")
    paths = [path for path, _ in lib.iter_graph([node])]
    assert paths[:2] == [(0, "_pytree__nodes"), (0, "_pytree__state")]
    assert not hasattr(lib.Param(1), "_pytree__state")
