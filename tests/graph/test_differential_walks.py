"""The walks (iter_graph, map, flatten, ...) agree with flax on generated object graphs."""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph.filter_descriptions import FilterSpec, Literal, filter_specs, make_filter
from tests.graph.oracle import assert_same, changed_leaf, nested_view, value_view, visits, walk
from tests.graph.worlds import Recipe, World, graphs
from tests.support.peer import both_libraries


@given(graphs(), st.one_of(st.just(Literal(...)), filter_specs))
def test_find_duplicates_lists_the_same_paths(graph: Recipe, only: FilterSpec) -> None:
    assert_same(graph, lambda w: w.nnx.find_duplicates(w.root, only=make_filter(w, only)))


@given(graphs())
def test_iter_graph_visits_the_same_paths_in_the_same_order(graph: Recipe) -> None:
    assert_same(graph, lambda world: visits(world, world.root))


@given(graphs())
def test_module_iterators_visit_the_same_modules(graph: Recipe) -> None:
    def operation(world: World) -> tp.Any:
        modules = [(p, type(m).__name__) for p, m in world.nnx.iter_modules(world.root)]
        return modules, [(k, type(m).__name__) for k, m in world.nnx.iter_children(world.root)]

    assert_same(graph, operation)


@pytest.mark.thorough
@given(graphs(), st.booleans())
def test_map_calls_the_function_on_the_same_leaves(graph: Recipe, recreate: bool) -> None:
    def operation(world: World) -> tp.Any:
        calls = []

        def change(path: tuple[tp.Any, ...], x: tp.Any) -> tp.Any:
            calls.append((path, value_view(x)))
            return changed_leaf(x)

        mapped = world.nnx.map(change, world.root, recreate_variables=recreate)
        return calls, walk(mapped), walk(world.root)

    assert_same(graph, operation)


@given(graphs())
def test_recursive_map_visits_bottom_up_in_the_same_order(graph: Recipe) -> None:
    def operation(world: World) -> tp.Any:
        calls = []

        def change(path: tuple[tp.Any, ...], x: tp.Any) -> tp.Any:
            if not (path and str(path[-1]).startswith("_")):
                calls.append((path, type(x).__name__))
            return x + 1 if type(x) in (int, float) and not str(path[-1]).startswith("_") else x

        return walk(world.nnx.recursive_map(change, world.root)), calls

    # flax refuses cycles and changes inside tuples; typed_nnx keeps the one and rebuilds the other.
    assert_same(graph, operation, peer_may_refuse=True)


@given(graphs())
def test_as_pure_strips_the_same_variables(graph: Recipe) -> None:
    assert_same(graph, lambda w: nested_view(w.nnx.as_pure(w.nnx.state(w.root))))


@given(graphs(), st.booleans())
def test_flatten_and_unflatten_round_trip_like_flax(graph: Recipe, with_paths: bool) -> None:
    def operation(world: World) -> tp.Any:
        graphdef, flat = world.nnx.flatten(world.root, with_paths=with_paths)
        leaves = (
            [(p, value_view(x)) for p, x in flat] if with_paths else [value_view(x) for x in flat]
        )
        return leaves, walk(world.nnx.unflatten(graphdef, flat))

    assert_same(graph, operation)


WALKS: dict[str, tp.Any] = {
    "iter_graph": lambda nnx, node: list(nnx.iter_graph(node, graph=False)),
    "map": lambda nnx, node: nnx.map(lambda path, leaf: leaf, node, graph=False),
    "recursive_map": lambda nnx, node: nnx.recursive_map(lambda p, x: x, node, graph=False),
}


@both_libraries
@pytest.mark.parametrize("name", WALKS)
def test_a_walk_with_graph_false_refuses_shared_variables_and_cycles(
    nnx: tp.Any, name: str
) -> None:
    param = nnx.Param(jnp.ones(2))
    first, second = nnx.List([1]), nnx.List([2])
    first.append(second)
    second.append(first)
    # In flax `map` of a cycle exhausts the stack, and jaxlib does not recover from that.
    for node in ([param, param], *([] if name == "map" else [first])):
        with pytest.raises(ValueError, match="found at paths"):
            WALKS[name](nnx, node)
    WALKS[name](nnx, [param, nnx.Param(jnp.ones(2))])


@both_libraries
def test_values_take_the_places_of_variables_that_are_not_recreated(nnx: tp.Any) -> None:
    model = nnx.Dict(a=nnx.Param(jnp.ones(2)), b=nnx.Dict(c=nnx.Param(jnp.ones(3))))
    mapped = nnx.map(lambda path, leaf: len(path), model, recreate_variables=False)
    assert (mapped.a, mapped.b.c) == (1, 2)
    graphdef, state = nnx.split(model)
    shapes = jax.tree.map(
        lambda leaf: leaf.shape, state, is_leaf=lambda leaf: isinstance(leaf, nnx.Variable)
    )
    merged = nnx.merge(graphdef, shapes, recreate_variables=False)
    assert type(merged.a) is tuple
    assert (merged.a, merged.b.c) == ((2,), (3,))
    assert isinstance(nnx.merge(graphdef, shapes).a, nnx.Param)


@both_libraries
def test_a_leaf_by_itself_is_flattened_and_merged(nnx: tp.Any) -> None:
    value = jnp.array(1.0)
    graphdef, flat = nnx.graphlib.flatten(value)
    assert nnx.merge(graphdef, flat) is value
    param = nnx.Param(value)
    assert nnx.merge(*nnx.graphlib.flatten(param)) is param


@both_libraries
def test_maps_of_positions_and_objects_are_inverse(nnx: tp.Any) -> None:
    model = nnx.Dict(a=nnx.Param(jnp.ones(2)))
    known = nnx.graphlib.RefMap()
    nnx.graphlib.flatten(model, ref_index=known)
    positions = nnx.graphlib.IndexMap.from_refmap(known)
    assert {id(found) for found in positions.values()} == {id(model), id(model.a)}
    again = nnx.graphlib.RefMap.from_indexmap(positions)
    assert again[model] == known[model]
    assert again[model.a] == known[model.a]
