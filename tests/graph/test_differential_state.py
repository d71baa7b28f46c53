"""The state functions and the jax pytrees agree with flax on generated object graphs."""

from __future__ import annotations

import typing as tp

import flax.nnx
import jax
import pytest
from hypothesis import given

from tests.graph.filter_descriptions import FilterSpec, filter_lists, filter_specs, make_filter
from tests.graph.oracle import assert_same, both, nested_view, outcome, state_view, value_view, walk
from tests.graph.worlds import JAX_TREES, STRICT_TREES, Recipe, World, graphs, near_duplicates


def filters_of(world: World, specs: list[FilterSpec]) -> list[tp.Any]:
    return [make_filter(world, spec) for spec in specs]


def all_states(result: tp.Any) -> list[tp.Any]:
    return list(result) if isinstance(result, tuple) else [result]


def key_paths(tree: tp.Any) -> list[tuple[str, tp.Any]]:
    """Return (key string, leaf) of every jax leaf."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return [(jax.tree_util.keystr(path), value_view(leaf)) for path, leaf in leaves]


@pytest.mark.thorough
@given(graphs())
def test_flat_states_round_trip_with_the_same_nesting(graph: Recipe) -> None:
    def operation(world: World) -> tp.Any:
        nnx, state = world.nnx, world.nnx.state(world.root)
        flat = nnx.to_flat_state(state)
        rebuilt = nnx.from_flat_state(reversed(list(flat)))
        return nested_view(state), nested_view(rebuilt), rebuilt == state, list(flat.paths)

    assert_same(graph, operation)


# Oracle bug: flax calls `.replace` on a data leaf that is a str and crashes in str.replace.
@pytest.mark.thorough
@given(graphs(text=False))
def test_pure_dicts_replace_values_like_flax(graph: Recipe) -> None:
    def operation(world: World) -> tp.Any:
        nnx = world.nnx
        state, pure = nnx.state(world.root), nnx.to_pure_dict(nnx.state(nnx.clone(world.root)))
        changed = jax.tree.map(lambda x: x, pure)
        nnx.replace_by_pure_dict(state, changed)
        return nested_view(pure), nested_view(state), walk(world.root)

    assert_same(graph, operation)


@pytest.mark.thorough
@given(graphs())
def test_integer_paths_come_back_from_strings(graph: Recipe) -> None:
    def stringed(x: tp.Any) -> tp.Any:
        return {str(k): stringed(v) for k, v in x.items()} if isinstance(x, dict) else x

    def operation(world: World) -> tp.Any:
        pure = world.nnx.to_pure_dict(world.nnx.state(world.root))
        return nested_view(world.nnx.restore_int_paths(stringed(pure)))

    assert_same(graph, operation)


@pytest.mark.thorough
@pytest.mark.parametrize("function", ["split_state", "filter_state"])
@given(graph=graphs(), specs=filter_lists())
def test_states_are_divided_like_flax(
    function: str, graph: Recipe, specs: list[FilterSpec]
) -> None:
    def operation(world: World) -> tp.Any:
        state = world.nnx.state(world.root)
        parts = all_states(getattr(world.nnx, function)(state, *filters_of(world, specs)))
        return [state_view(world, part) for part in parts], [nested_view(part) for part in parts]

    assert_same(graph, operation)


@pytest.mark.thorough
@given(graphs(), filter_lists())
def test_merged_states_nest_like_flax(graph: Recipe, specs: list[FilterSpec]) -> None:
    def operation(world: World) -> tp.Any:
        nnx = world.nnx
        _, *states = nnx.split(world.root, *filters_of(world, specs))
        return nested_view(nnx.merge_state(*states)), nested_view(
            nnx.merge_state(*reversed(states))
        )

    assert_same(graph, operation)


@given(graphs(), filter_specs)
def test_the_difference_of_states_is_the_same(graph: Recipe, spec: FilterSpec) -> None:
    def operation(world: World) -> tp.Any:
        state, part = (
            world.nnx.state(world.root),
            world.nnx.state(world.root, make_filter(world, spec)),
        )
        diff = flax.nnx.statelib.diff if world.nnx is flax.nnx else world.nnx.diff
        return nested_view(diff(state, part)), nested_view(diff(part, state))

    assert_same(graph, operation)


@given(graphs())
def test_map_state_visits_the_same_paths(graph: Recipe) -> None:
    def operation(world: World) -> tp.Any:
        calls: list[tp.Any] = []

        def number(path: tuple[tp.Any, ...], leaf: tp.Any) -> int:
            calls.append((path, value_view(leaf)))
            return len(calls)

        mapped = world.nnx.map_state(number, world.nnx.state(world.root))
        return calls, nested_view(mapped)

    assert_same(graph, operation)


@given(graphs(), filter_lists(max_size=1))
def test_states_are_jax_pytrees_with_the_same_key_paths(
    graph: Recipe, specs: list[FilterSpec]
) -> None:
    def operation(world: World) -> tp.Any:
        states = all_states(world.nnx.state(world.root, *filters_of(world, specs)))
        mapped = [jax.tree.map(lambda x: x, state) for state in states]
        return [key_paths(s) for s in states], [nested_view(s) for s in mapped]

    assert_same(graph, operation)


@pytest.mark.thorough
@given(near_duplicates())
def test_tree_structures_of_states_are_equal_where_flax_says_so(variants: list[Recipe]) -> None:
    pairs = [both(graph) for graph in variants]
    expected = [jax.tree.structure(peer.nnx.state(peer.root)) for peer, _ in pairs]
    actual = [jax.tree.structure(ours.nnx.state(ours.root)) for _, ours in pairs]
    assert equalities(actual) == equalities(expected)


def equalities(items: list[tp.Any]) -> list[list[bool]]:
    """Return the whole table of `items[i] == items[j]`."""
    return [[bool(a == b) for b in items] for a in items]


@given(graphs(**JAX_TREES))
def test_pytree_objects_have_the_same_jax_leaves_and_key_paths(graph: Recipe) -> None:
    def operation(world: World) -> tp.Any:
        leaves, structure = jax.tree.flatten(world.root)
        rebuilt = jax.tree.unflatten(structure, leaves)
        return key_paths(world.root), walk(rebuilt), walk(jax.tree.map(lambda x: x, world.root))

    assert_same(graph, operation)


@pytest.mark.thorough
@given(near_duplicates(**JAX_TREES))
def test_tree_structures_of_pytree_objects_are_equal_where_flax_says_so(
    variants: list[Recipe],
) -> None:
    pairs = [both(graph) for graph in variants]
    expected = [jax.tree.structure(peer.root) for peer, _ in pairs]
    actual = [jax.tree.structure(ours.root) for _, ours in pairs]
    assert equalities(actual) == equalities(expected)


@given(graphs(**STRICT_TREES), filter_lists(max_size=2))
def test_tree_mode_divides_trees_like_graph_mode(graph: Recipe, specs: list[FilterSpec]) -> None:
    _, ours = both(graph)
    filters = filters_of(ours, specs)

    def divided(graph_mode: bool) -> tp.Any:
        states = all_states(ours.nnx.state(ours.root, *filters, graph=graph_mode))
        return [state_view(ours, state) for state in states]

    if is_tree(ours):
        assert outcome(lambda: divided(False)) == outcome(lambda: divided(True))


def is_tree(world: World) -> bool:
    """Whether all is reached once (a shared array is a value twice) and is a pytree of jax."""
    return not any(
        kind == "ref" or (kind == "node" and view in ("Plain", "Obj"))
        for _, kind, view in walk(world.root)
    )


@given(graphs())
def test_tree_mode_refuses_exactly_what_is_no_tree_of_pytrees(graph: Recipe) -> None:
    _, ours = both(graph)
    refused = outcome(lambda: ours.nnx.split(ours.root, graph=False))
    assert (refused == ("error", "ValueError")) != is_tree(ours)
