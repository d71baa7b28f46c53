"""The walks (iter_graph, map, flatten, ...) agree with flax on generated object graphs."""

from __future__ import annotations

import typing as tp

from hypothesis import given
from hypothesis import strategies as st

from tests.graph.descriptions import Graph
from tests.graph.filter_descriptions import FilterSpec, Literal, filter_specs, make_filter
from tests.graph.oracle import (
    assert_same,
    changed_leaf,
    nested_view,
    value_view,
    visits,
    walk,
)
from tests.graph.strategies import graphs
from tests.graph.worlds import World


@given(graphs(), st.one_of(st.just(Literal(...)), filter_specs))
def test_find_duplicates_lists_the_same_paths(graph: Graph, only: FilterSpec) -> None:
    assert_same(graph, lambda w: w.nnx.find_duplicates(w.root, only=make_filter(w, only)))


@given(graphs())
def test_iter_graph_visits_the_same_paths_in_the_same_order(graph: Graph) -> None:
    assert_same(graph, lambda world: visits(world, world.root))


@given(graphs())
def test_module_iterators_visit_the_same_modules(graph: Graph) -> None:
    def operation(world: World) -> tp.Any:
        modules = [(p, type(m).__name__) for p, m in world.nnx.iter_modules(world.root)]
        return modules, [(k, type(m).__name__) for k, m in world.nnx.iter_children(world.root)]

    assert_same(graph, operation)


@given(graphs(), st.booleans())
def test_map_calls_the_function_on_the_same_leaves(graph: Graph, recreate: bool) -> None:
    def operation(world: World) -> tp.Any:
        calls = []

        def change(path: tuple[tp.Any, ...], x: tp.Any) -> tp.Any:
            calls.append((path, value_view(x)))
            return changed_leaf(x)

        mapped = world.nnx.map(change, world.root, recreate_variables=recreate)
        return calls, walk(mapped), walk(world.root)

    assert_same(graph, operation)


@given(graphs())
def test_recursive_map_visits_bottom_up_in_the_same_order(graph: Graph) -> None:
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
def test_as_pure_strips_the_same_variables(graph: Graph) -> None:
    assert_same(graph, lambda w: nested_view(w.nnx.as_pure(w.nnx.state(w.root))))


@given(graphs(), st.booleans())
def test_flatten_and_unflatten_round_trip_like_flax(graph: Graph, with_paths: bool) -> None:
    def operation(world: World) -> tp.Any:
        graphdef, flat = world.nnx.flatten(world.root, with_paths=with_paths)
        leaves = (
            [(p, value_view(x)) for p, x in flat] if with_paths else [value_view(x) for x in flat]
        )
        return leaves, walk(world.nnx.unflatten(graphdef, flat))

    assert_same(graph, operation)
