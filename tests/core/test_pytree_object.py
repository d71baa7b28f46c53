"""Objects: Pytrees that jax does not know and that are not checked; laws run with flax too."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from tests.core.libraries import both


def plain_class(lib: Any, how: str) -> Any:
    if how == "Object":

        class Plain(lib.Object):
            pass

        return Plain

    return type("NoPytree", (lib.Pytree,), {}, pytree=False)


ways = pytest.mark.parametrize("how", ["Object", "pytree=False"])


@both
@ways
def test_jax_takes_an_object_for_a_leaf(lib: Any, how: str) -> None:
    node = plain_class(lib, how)()
    assert jax.tree_util.all_leaves([node])
    assert jax.tree.leaves(node) == [node]


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
    assert not hasattr(lib.Param(1), "_pytree__state")
