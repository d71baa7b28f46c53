"""`to_tree`, `from_tree` and `prefix`; compared with flax.nnx."""

from __future__ import annotations

import functools
import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.graph.oracle import walk
from tests.support.peer import (
    Scenario,
    assert_as_in_flax,
    assert_refused_as_in_flax,
    scenarios,
)


@functools.cache
def layer_class(nnx: tp.Any) -> tp.Any:
    class Layer(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.ones(1))
            self.m = nnx.BatchStat(jnp.zeros(1))
            self.name = "layer"

    Layer.__qualname__ = "Layer"
    return Layer


def there_and_back(nnx: tp.Any) -> tp.Any:
    layer = layer_class(nnx)()
    tree = {"a": layer, "b": [5, layer_class(nnx)()], "c": jnp.ones(2), "d": None}
    tree["b"][1].shared = layer.w
    pure = nnx.to_tree(tree)
    back = nnx.from_tree(pure)
    doubled = nnx.from_tree(jax.tree.map(lambda x: x * 2, pure))
    return (
        walk(back) == walk(tree), back["b"][1].shared is back["a"].w,
        walk(doubled), len(jax.tree.leaves(pure)),
    )  # fmt: skip


def merged_by_a_function(nnx: tp.Any) -> tp.Any:
    tree = [layer_class(nnx)(), 4.0]
    seen: list[tp.Any] = []

    def merge(ctx: tp.Any, path: tp.Any, prefix: tp.Any, leaf: tp.Any) -> tp.Any:
        seen.append((jax.tree_util.keystr(path), prefix))
        return ctx.merge(leaf.graphdef, *leaf.states)

    back = nnx.from_tree(nnx.to_tree(tree), merge_fn=merge, prefix=7)
    return seen, walk(back)


def prefixes(nnx: tp.Any) -> tp.Any:
    tree = {"a": layer_class(nnx)(), "x": jnp.ones(2)}
    filters = {nnx.Param: 0, nnx.BatchStat: None, ...: "rest"}
    made = nnx.prefix(tree, filters, graph=False)
    by_function = nnx.prefix(tree, lambda path, leaf: len(path), graph=False)
    return made["a"].w, made["a"].m, made["x"], made["a"].name, by_function["a"].w, by_function["x"]


def one_object_twice(nnx: tp.Any) -> tp.Any:
    layer = layer_class(nnx)()
    tree = {"a": layer, "b": [layer.w, layer, 5]}
    pure = nnx.to_tree(tree)
    back = nnx.from_tree(pure)
    return (
        walk(back) == walk(tree), back["a"] is back["b"][1], back["b"][0] is back["a"].w,
        len(jax.tree.leaves(pure)),
    )  # fmt: skip


@scenarios(one_object_twice, there_and_back, merged_by_a_function, prefixes)
def test_trees_are_made_as_in_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def different_prefixes_for_one_object(nnx: tp.Any) -> tp.Any:
    layer = layer_class(nnx)()
    return nnx.to_tree([layer, layer], prefix=[0, 1])


def prefix_without_a_filter_for_a_leaf(nnx: tp.Any) -> tp.Any:
    return nnx.prefix(layer_class(nnx)(), {nnx.Param: 0}, graph=False)


@scenarios(different_prefixes_for_one_object, prefix_without_a_filter_for_a_leaf)
def test_what_flax_refuses_is_refused(scenario: Scenario) -> None:
    assert_refused_as_in_flax(scenario)


def test_a_split_function_gets_context_path_prefix_and_object() -> None:
    tree = {"a": layer_class(nnx)(), "b": [layer_class(nnx)(), 3]}
    seen = []

    def split(ctx: tp.Any, path: tp.Any, prefix: tp.Any, leaf: tp.Any) -> tp.Any:
        seen.append((jax.tree_util.keystr(path), prefix, type(leaf).__name__))
        graphdef, *states = ctx.split(leaf, nnx.Param, ...)
        return nnx.NodeStates.from_split(graphdef, *states, metadata=prefix)

    pure = nnx.to_tree(tree, prefix={"a": 1, "b": 2}, split_fn=split)
    assert seen == [("['a']", 1, "Layer"), ("['b'][0]", 2, "Layer")]
    assert [len(pure["a"].states), pure["b"][0].metadata, pure["b"][1]] == [2, 2, 3]
    assert walk(nnx.from_tree(pure)) == walk(tree)


def test_node_states_say_what_they_lack() -> None:
    with pytest.raises(ValueError, match="no GraphDef"):
        nnx.NodeStates.from_states(1, 2).graphdef  # noqa: B018 -- under test
    with pytest.raises(ValueError, match="expected one State, there are 2"):
        nnx.NodeStates.from_states(1, 2).state  # noqa: B018 -- under test
