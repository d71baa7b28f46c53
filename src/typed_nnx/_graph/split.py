"""`split`, `merge`, `state` and what is made of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

import jax

from typed_nnx._core.cells import graph_lock, static_key
from typed_nnx._core.filters import Filter, Predicate, is_structural, to_predicates, types_in
from typed_nnx._core.nested import MixedLevel, Nested, describe_leaf, grouped
from typed_nnx._core.paths import Node, Value
from typed_nnx._core.settings import typed_as
from typed_nnx._core.state import State
from typed_nnx._core.variable import AnyVariable, Variable
from typed_nnx._graph.graphdef import Applied, AppliedPart, GraphDef, GraphState, Plan, StateLike
from typed_nnx._graph.mode import require_tree
from typed_nnx._graph.rebuild import leaves_in_order, rebuild
from typed_nnx._graph.record import Record, snapshot
from typed_nnx._graph.traversal import Traversal
from typed_nnx.errors import ArgumentError, ArgumentTypeError, GraphError, NoFilterMatchedError

if TYPE_CHECKING:
    from typed_nnx._graph import split_overloads as overloads


def _plan_for(filters: tuple[Filter, ...], graph: Record | Traversal) -> Plan:
    """Return how to build the States of some filters; remembered where it follows from the structure."""
    layout = graph.graphdef.layout
    key = _key(filters)
    known = None if key is None else layout.plans[key]
    if known is not None:
        return known
    predicates = to_predicates(filters)
    count = max(len(predicates), 1)
    groups = [0] * len(graph.leaves)
    if predicates:
        leaves = zip(layout.paths, graph.values(), strict=True)
        groups = [
            next((n for n, predicate in enumerate(predicates) if predicate(path, leaf)), count)
            for path, leaf in leaves
        ]
    states = [nested_builder(_numbers(layout.tree, groups, n), len(groups)) for n in range(count)]
    plan = (states, [number for number, group in enumerate(groups) if group == count])
    if key is not None and is_lasting(predicates, graph):
        layout.plans.add(key, plan)
    return plan


def _key(filters: tuple[Filter, ...]) -> Hashable | None:
    """Return what to remember a plan under, or None if there is a filter without a hash."""
    try:
        key: Hashable = static_key(hashable(filters))
        hash(key)
    except TypeError:
        return None
    return key


def hashable(value: object) -> object:
    """Return filters, or what is given by filter, with tuples in place of lists."""
    if isinstance(value, list):
        return (list, *map(hashable, value))
    return tuple(map(hashable, value)) if isinstance(value, tuple) else value


def _numbers(tree: Nested | int, groups: Sequence[int], group: int) -> Nested:
    """Return the part of a nested dict of the numbers of leaves that is in one group."""
    part: Nested = {}
    for key, place in tree.items() if isinstance(tree, dict) else ():
        if type(place) is int:
            if groups[place] == group:
                part[key] = place
        else:
            below = _numbers(place, groups, group)
            if below:
                part[key] = below
    return part if type(tree) is dict else MixedLevel(part)


def nested_builder(numbers: Nested, count: int) -> Callable[[Sequence[Value]], Nested]:
    """Return what builds a nested dict of the leaves, `count` of them, with some numbers.

    jax does it in C, in two thirds of the time of copying dicts.
    """
    chosen, treedef = jax.tree.flatten(numbers)
    unflatten = partial(jax.tree_util.tree_unflatten, treedef)
    if chosen == list(range(count)):
        return unflatten
    if len(chosen) < 2:
        return lambda leaves: unflatten([leaves[number] for number in chosen])
    choose = operator.itemgetter(*chosen)
    return lambda leaves: unflatten(choose(leaves))


def is_lasting(predicates: Sequence[Predicate], graph: Record | Traversal) -> bool:
    """Whether what predicates say of the leaves follows from the structure."""
    # The type of a Variable and its metadata are structure; a slot may get an array of another type.
    if not all(map(is_structural, predicates)):
        return False
    return not graph.has_slots or all(
        issubclass(kind, Variable) for predicate in predicates for kind in types_in(predicate)
    )


A = TypeVar("A")
K = TypeVar("K")
F = TypeVar("F")


def _states(function: str, graph: Record | Traversal, filters: tuple[Filter, ...]) -> list[Value]:
    """Return one State per filter; for a graph that is one leaf, the leaf itself."""
    leaves = graph.values() if graph.has_slots else graph.leaves
    if type(graph.graphdef.layout.tree) is int:
        return _root_leaf(function, leaves[0], filters)
    states, rest = _plan_for(filters, graph)
    if rest and function != "state":
        paths = graph.graphdef.layout.paths
        raise NoFilterMatchedError(
            function, [(paths[number], describe_leaf(leaves[number])) for number in rest]
        )
    return [State._of(build(leaves)) for build in states]


def _root_leaf(function: str, leaf: object, filters: tuple[Filter, ...]) -> list[Value]:
    groups, rest = grouped([((), leaf)], filters or (...,))
    if rest and function != "state":
        raise NoFilterMatchedError(function, [((), describe_leaf(leaf))])
    return [group[0][1] if group else State._of({}) for group in groups]


@typed_as(lambda: overloads.split)
def split(
    node: A, *filters: Filter, graph: bool | None = None
) -> tuple[GraphDef[A], *tuple[State[Any, Any, A, Any], ...]]:
    """Split an object graph into its structure and one State per filter.

    Args:
        node: An object, or a container of objects.
        *filters: Each leaf goes to the first filter that matches it; without filters there is one
            State with all leaves.
        graph: False asserts that the graph is a tree.

    Returns:
        The GraphDef and the States, whose leaves are the Variables of `node` themselves.

    Raises:
        NoFilterMatchedError: A leaf matches no filter.
        ArgumentError: `...` is not the last filter.
        SharedReferenceError: ``graph=False`` and an object is reached on two paths.
    """
    is_tree = require_tree("split", node, graph)
    record = snapshot(node)
    return (record.graphdef.of_mode(is_tree), *_states("split", record, filters))


@typed_as(lambda: overloads.state)
def state(
    node: A, *filters: Filter, graph: bool | None = None
) -> State[Any, Any, A, Any] | tuple[State[Any, Any, A, Any], ...]:
    """Return the State of an object graph, or one State per filter.

    Unlike `split` it leaves out what no filter matches.

    Args:
        node: An object, or a container of objects.
        *filters: Which leaves; all without filters.
        graph: False asserts that the graph is a tree.
    """
    require_tree("state", node, graph)
    states = _states("state", snapshot(node), filters)
    return states[0] if len(states) == 1 else tuple(states)


variables = state


def graphdef(node: A, /, *, graph: bool | None = None) -> GraphDef[A]:
    """Return the structure of an object graph.

    Args:
        node: An object, or a container of objects.
        graph: False asserts that the graph is a tree.
    """
    is_tree = require_tree("graphdef", node, graph)
    structure = snapshot(node).graphdef
    return structure if structure.is_tree is is_tree else structure.of_mode(is_tree)


def merge(
    graphdef_or_graphstate: GraphDef[A] | GraphState[A],
    /,
    *states: StateLike | AnyVariable | jax.Array,
    copy: bool = False,
    recreate_variables: bool = True,
) -> A:
    """Build the object graph of a structure and States: the inverse of `split`.

    Args:
        graphdef_or_graphstate: The structure, or what `unpack` returned.
        *states: All States of the structure, in any order; or one list of all leaves, in the order
            that `jax.tree.leaves` gives them with Variables as leaves.
        copy: Give the new graph copies of the Variables instead of the Variables in the States.
        recreate_variables: If False, a value in a State stays one where the structure has a
            Variable.

    Raises:
        StateMismatchError: Leaves are missing, extra or of another Variable type; paths are listed.
        GraphError: After a GraphState comes something else, or one of another structure.
        TypeError: There is no State at all, and the structure has leaves.
    """
    given = graphdef_or_graphstate
    if not states and isinstance(given, GraphDef) and given.layout.paths:
        raise ArgumentTypeError(
            "nnx.merge",
            "merge() missing 1 required positional argument: 'state'",
            "nnx.merge(graphdef, *states), with every State that `split` returned",
        )
    structure = given.graphdef if isinstance(given, GraphState) else given
    if isinstance(given, GraphState):
        _check_graph_states(given, states)
        states = (given, *states)
    states = tuple([s.state if isinstance(s, GraphState) else s for s in states])
    leaves = leaves_in_order("merge", structure, states)
    if copy:
        leaves = [leaf._clone() if isinstance(leaf, Variable) else leaf for leaf in leaves]
    merged: A = rebuild(structure.without_outer(), leaves, recreate_variables=recreate_variables)
    return merged


def _check_graph_states(first: GraphState, others: tuple[object, ...]) -> None:
    for position, other in enumerate(others, 1):
        if not isinstance(other, GraphState):
            problem = f"Expected GraphState object, got {type(other).__name__}"
        elif other.graphdef != first.graphdef:
            problem = "GraphDef must be the same, got another structure"
        else:
            continue
        raise GraphError(
            "merge",
            f"{problem} at position {position}, after a GraphState.",
            "pass the GraphStates that one `unpack` returned, or nnx.merge(graphdef, *states)",
        )


@typed_as(lambda: overloads.unpack)
def unpack(
    node: A, *filters: Filter, graph: bool | None = None
) -> GraphState[A] | tuple[GraphState[A], ...]:
    """Split an object graph into `GraphState`s, each of which carries the structure with it.

    Args:
        node: An object, or a container of objects.
        *filters: As for `split`.
        graph: False asserts that the graph is a tree.
    """
    structure, *states = split(node, *filters, graph=graph)
    made = [GraphState(structure, part) for part in states]
    return made[0] if len(made) == 1 else tuple(made)


def clone(node: A, variables: bool = True, *, arrays: bool = False, graph: bool | None = None) -> A:
    """Return a copy of an object graph, sharing and cycles kept.

    Args:
        node: An object, or a container of objects.
        variables: Copy the Variables; if False the clone shares them with the original.
        arrays: Copy the arrays too, so that the clone may be donated.
        graph: False asserts that the graph is a tree.

    Raises:
        ValueError: ``arrays=True`` with ``variables=False``.
    """
    if arrays and not variables:
        raise ArgumentError(
            "clone",
            "arrays=True needs variables=True, got variables=False.",
            "nnx.clone(node, arrays=True)",
        )
    require_tree("clone", node, graph)
    record = snapshot(node)
    leaves = record.values()
    if variables:
        with graph_lock:  # what another thread writes together is copied together
            leaves = [leaf._clone() if isinstance(leaf, Variable) else leaf for leaf in leaves]
    if arrays:
        leaves = [_copied(leaf) for leaf in leaves]
    made: A = rebuild(record.graphdef, leaves)
    return made


def _copied(leaf: object) -> object:
    if isinstance(leaf, Variable):
        return leaf.__deepcopy__({})
    copy: Callable[[], object] | None = getattr(leaf, "copy", None)
    return leaf if copy is None else copy()


class CallProxy(Applied[A]):
    """Calls an object, or what is inside it, on a merged copy and splits the copy again.

    Attributes and items lead to what is inside; a call returns the output and the new
    (GraphDef, State).
    """

    __slots__ = ("_build", "_steps")

    def __init__(
        self, build: Callable[[], Node], steps: tuple[Callable[[Node], Node], ...] = ()
    ) -> None:
        self._build = build
        self._steps = steps

    def _nnx_part(self, step: Callable[[Node], Node]) -> AppliedPart[A]:
        proxy: Any = CallProxy(self._build, (*self._steps, step))
        part: AppliedPart[A] = proxy  # it takes what the part takes, not what the object takes
        return part

    def _nnx_call(self, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        node = self._build()
        function = node
        for step in self._steps:
            function = step(function)
        output = function(*args, **kwargs)
        return output, split(node)


def call(graphdef_state: tuple[GraphDef[A], *tuple[Value, ...]], /) -> CallProxy[A]:
    """Return a proxy that calls methods of the object described by a (GraphDef, State) pair.

    ``output, (graphdef, state) = nnx.call((graphdef, state)).method(x)`` merges a copy, calls the
    method and splits again, for use in pure jax functions.

    Args:
        graphdef_state: What `split` without filters returned.
    """
    graphdef, *states = graphdef_state
    return _applied(graphdef, tuple(states))


def _applied(graphdef: GraphDef[A], states: tuple[Value, ...]) -> CallProxy[A]:
    return CallProxy(lambda: merge(graphdef, *states, copy=True))


GraphDef._apply = staticmethod(_applied)


@overload
def pure(tree: State[K, Any, A, F]) -> State[K, Any, A, F]: ...
@overload
def pure(tree: A) -> A: ...
def pure(tree: Any) -> Any:
    """Return the tree with the value of each Variable in place of the Variable.

    Args:
        tree: Any pytree, such as a State or a Module.
    """
    return jax.tree.map(
        lambda leaf: leaf.get_raw_value() if isinstance(leaf, Variable) else leaf,
        tree,
        is_leaf=lambda value: isinstance(value, Variable),
    )


as_pure = pure
