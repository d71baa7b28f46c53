"""Update contexts: changes of structure made inside a jax function reach the objects outside."""

from __future__ import annotations

import functools
import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.graph.oracle import walk
from tests.support.peer import Scenario, assert_as_in_flax, scenarios

OURS: tp.Any = nnx


@functools.cache
def node_class(nnx: tp.Any) -> tp.Any:
    class Node(nnx.Module):
        def __init__(self, **attributes: tp.Any) -> None:
            for name, value in attributes.items():
                setattr(self, name, value)

    Node.__qualname__ = "Node"
    return Node


Change = tp.Callable[..., tp.Any]


def run(
    nnx: tp.Any, change: Change, *outside: tp.Any, tag: tp.Hashable = "t"
) -> tuple[tp.Any, ...]:
    """Apply `change` to the objects inside jit and carry everything back; return what comes back.

    `change` returns the objects to send back, or None for the ones that it got.
    """

    @jax.jit
    def inside(pairs: tp.Any) -> tp.Any:
        with nnx.merge_context(tag, inner=True) as merging:
            nodes = [merging.merge(graphdef, state) for graphdef, state in pairs]
        returned = change(*nodes) or nodes
        with nnx.split_context(tag) as splitting:
            return [splitting.split(node) for node in returned]

    with nnx.update_context(tag):
        with nnx.split_context(tag) as splitting:
            pairs = [splitting.split(node) for node in outside]
        out = inside(pairs)
        with nnx.merge_context(tag, inner=False) as merging:
            return tuple(merging.merge(graphdef, state) for graphdef, state in out)


def two_objects_that_share(nnx: tp.Any) -> tp.Any:
    Node = node_class(nnx)
    shared = Node(w=nnx.Param(jnp.ones(2)))
    a, b = Node(s=shared, own=nnx.Param(jnp.zeros(1))), Node(s=shared, w=shared.w)

    def change(a: tp.Any, b: tp.Any) -> None:
        assert a.s is b.s
        assert b.w is a.s.w
        a.s.w[...] += 1
        b.s.flag = "set inside"

    c, d = run(nnx, change, a, b)
    return c is a, d is b, a.s is shared, b.w is shared.w, walk([a, b])


def new_nodes(nnx: tp.Any) -> tp.Any:
    Node = node_class(nnx)
    a, b = Node(w=nnx.Param(jnp.ones(1))), Node(w=nnx.Param(jnp.zeros(1)))
    w = a.w

    def change(a: tp.Any, b: tp.Any) -> None:
        a.new = Node(v=nnx.BatchStat(jnp.full(1, 3.0)), back=a)
        b.new = a.new
        b.stolen = a.w

    run(nnx, change, a, b)
    return a.new is b.new, a.new.back is a, b.stolen is w, walk([a, b])


def removed_attributes(nnx: tp.Any) -> tp.Any:
    Node = node_class(nnx)
    a = Node(w=nnx.Param(jnp.ones(1)), inner=Node(x=nnx.Param(jnp.ones(1)), s=1), s=2)

    def change(a: tp.Any) -> None:
        del a.w, a.s, a.inner.x

    inner = a.inner
    run(nnx, change, a)
    return a.inner is inner, sorted(k for k in vars(a) if not k.startswith("_")), walk(a)


def replaced_and_swapped(nnx: tp.Any) -> tp.Any:
    Node = node_class(nnx)
    a = Node(x=Node(v=nnx.Param(jnp.zeros(1))), y=Node(v=nnx.Param(jnp.ones(1))))
    x, y = a.x, a.y

    def change(a: tp.Any) -> None:
        a.x, a.y = a.y, a.x
        a.x.v, a.y.v = a.y.v, nnx.Param(jnp.full(1, 5.0))

    run(nnx, change, a)
    return a.x is y, a.y is x, walk(a)


def cycles(nnx: tp.Any) -> tp.Any:
    Node = node_class(nnx)
    a, b = Node(w=nnx.Param(jnp.ones(1))), Node()
    a.b, b.a = b, a

    def change(a: tp.Any) -> None:
        a.me = a
        a.b.me = a.b
        a.w[...] *= 4

    run(nnx, change, a)
    return a.me is a, a.b is b, b.me is b, walk(a)


def other_objects_come_back(nnx: tp.Any) -> tp.Any:
    Node = node_class(nnx)
    a = Node(inner=Node(w=nnx.Param(jnp.ones(1))))
    inner = a.inner

    def change(a: tp.Any) -> tp.Any:
        return [a.inner, Node(extra=nnx.Param(jnp.zeros(1)), a=a)]

    first, second = run(nnx, change, a)
    return first is inner, second.a is a, walk([first, second])


def lists_and_dicts(nnx: tp.Any) -> tp.Any:
    a = nnx.List([nnx.Param(jnp.ones(1)), nnx.Dict(x=nnx.Param(jnp.zeros(1)))])
    d = a[1]

    def change(a: tp.Any) -> None:
        a.append(nnx.Param(jnp.full(1, 7.0)))
        a[1]["y"] = a[0]

    run(nnx, change, a)
    return len(a), a[1] is d, d["y"] is a[0], walk(a)


def nested_contexts(nnx: tp.Any) -> tp.Any:
    Node = node_class(nnx)
    a = Node(w=nnx.Param(jnp.ones(1)))

    def inner(a: tp.Any) -> None:
        a.w[...] += 1
        a.inner = "inner"

    def outer(a: tp.Any) -> None:
        (same,) = run(nnx, inner, a, tag="second")
        assert same is a
        a.w[...] *= 10
        a.outer = "outer"

    run(nnx, outer, a, tag="first")
    return walk(a)


def one_tag_twice(nnx: tp.Any) -> tp.Any:
    Node = node_class(nnx)
    a = Node(w=nnx.Param(jnp.ones(1)))

    def inner(a: tp.Any) -> None:
        a.w[...] += 1

    def outer(a: tp.Any) -> None:
        run(nnx, inner, a)
        a.w[...] *= 10

    run(nnx, outer, a)
    return walk(a)


def flattened_by_filters(nnx: tp.Any) -> tp.Any:
    model = nnx.Dict(w=nnx.Param(1), b=nnx.BatchStat(2), a=nnx.Param(3))
    with nnx.split_context() as context:
        _, params, rest = context.flatten(model, nnx.Param, ...)
        with pytest.raises(ValueError, match="with_paths=False"):
            context.flatten(model, nnx.Param, with_paths=False)
    return list(params.paths), list(rest.paths), type(params).__name__


@scenarios(
    flattened_by_filters, two_objects_that_share, new_nodes, removed_attributes, replaced_and_swapped, cycles,
    other_objects_come_back, lists_and_dicts, nested_contexts, one_tag_twice,
)  # fmt: skip
def test_changes_come_back_as_in_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def test_filters_split_in_a_context_too() -> None:
    model = nnx.Dict(w=nnx.Param(1), b=nnx.BatchStat(2))
    with nnx.split_context() as context:
        graphdef, params, rest = context.split(model, nnx.Param, ...)
    assert (list(params), list(rest)) == (["w"], ["b"])
    with nnx.merge_context() as merging:
        merged = merging.merge(graphdef, params, rest)
    assert sorted(merged) == ["b", "w"]


def test_as_a_decorator_every_call_has_a_context_of_its_own() -> None:
    seen = []

    @nnx.update_context("decorated")
    def inside() -> int:
        """Doc."""
        seen.append(nnx.current_update_context("decorated"))
        return 5

    assert (inside(), inside()) == (5, 5)
    assert (inside.__name__, inside.__doc__) == ("inside", "Doc.")
    assert seen[0] is not seen[1]
    with pytest.raises(nnx.errors.GraphError):
        nnx.current_update_context("decorated")


def test_the_innermost_context_of_a_tag_is_the_current_one() -> None:
    with nnx.update_context("a") as outer, nnx.update_context("b") as other:
        assert nnx.current_update_context("a") is outer
        with nnx.update_context("a") as inner:
            assert nnx.current_update_context("a") is inner
            assert nnx.current_update_context("b") is other
        assert nnx.current_update_context("a") is outer


def test_a_context_ends_when_an_exception_leaves_it() -> None:
    with pytest.raises(ZeroDivisionError), nnx.update_context("a"):
        raise ZeroDivisionError
    with pytest.raises(nnx.errors.GraphError, match="No update context found for tag 'a'"):
        nnx.current_update_context("a")


def test_a_context_that_has_ended_splits_and_merges_nothing() -> None:
    a = node_class(OURS)(w=nnx.Param(jnp.ones(1)))
    with nnx.update_context("a"):
        with nnx.split_context("a") as splitting:
            parts = splitting.split(a)
        with nnx.merge_context("a", inner=True) as merging:
            merging.merge(*parts)
        with pytest.raises(nnx.errors.GraphError, match="the `with` block has ended"):
            splitting.split(a)
        with pytest.raises(nnx.errors.GraphError, match="update_context 'a': .* has ended"):
            merging.merge(*parts)
    assert not hasattr(splitting, "ref_index")
    assert not hasattr(merging, "index_ref")
