"""`split`, `merge`, `state` and what is made of them."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar, overload

from typed_nnx._core.cells import graph_lock
from typed_nnx._core.filters import Filter
from typed_nnx._core.leaves import describe_leaf
from typed_nnx._core.nested import grouped
from typed_nnx._core.state import State
from typed_nnx._core.state_protocols import SupportsSplit, SupportsState
from typed_nnx._core.variable import Variable
from typed_nnx._graph.gather import leaves_in_order
from typed_nnx._graph.graph_state import GraphState
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.mode import require_tree
from typed_nnx._graph.plans import check_exhaustive, plan_for
from typed_nnx._graph.rebuild import rebuild
from typed_nnx._graph.record import Record, snapshot
from typed_nnx._graph.traversal import Traversal
from typed_nnx.errors import GraphStateError, NoFilterMatchedError

A = TypeVar("A")
F = TypeVar("F", bound=Filter)
S = TypeVar("S")
F1 = TypeVar("F1", bound=Filter)
F2 = TypeVar("F2", bound=Filter)
F3 = TypeVar("F3", bound=Filter)
F4 = TypeVar("F4", bound=Filter)
F5 = TypeVar("F5", bound=Filter)
F6 = TypeVar("F6", bound=Filter)

Part: TypeAlias = State[Any, Any, A, F]
"""The State of the leaves of an ``A`` that a filter takes."""


def _states(function: str, record: Record | Traversal, filters: tuple[Filter, ...]) -> list[Any]:
    """Return one State per filter; for a graph that is one leaf, the leaf itself."""
    if type(record.graphdef.layout.tree) is int:
        return _root_leaf(function, record.values()[0], filters)
    plan = plan_for(filters, record)
    if function != "state":
        check_exhaustive(function, plan, record)
    return [State._of(nested) for nested in plan.build()]


def _root_leaf(function: str, leaf: Any, filters: tuple[Filter, ...]) -> list[Any]:
    groups, rest = grouped([((), leaf)], filters or (...,))
    if rest and function != "state":
        raise NoFilterMatchedError(function, [((), describe_leaf(leaf))])
    return [group[0][1] if group else State._of({}) for group in groups]


# The State that an object's own type names is the more precise answer.
@overload
def split(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    node: SupportsSplit[A, S], *, graph: bool | None = None
) -> tuple[GraphDef[A], S]: ...
@overload
def split(node: A, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, Any]]: ...
@overload
def split(node: A, f1: F1, /, *, graph: bool | None = None) -> tuple[GraphDef[A], Part[A, F1]]: ...
@overload
def split(
    node: A, f1: F1, f2: F2, /, *, graph: bool | None = None
) -> tuple[GraphDef[A], Part[A, F1], Part[A, F2]]: ...
@overload
def split(
    node: A, f1: F1, f2: F2, f3: F3, /, *, graph: bool | None = None
) -> tuple[GraphDef[A], Part[A, F1], Part[A, F2], Part[A, F3]]: ...
@overload
def split(
    node: A, f1: F1, f2: F2, f3: F3, f4: F4, /, *, graph: bool | None = None
) -> tuple[
    GraphDef[A],
    Part[A, F1],
    Part[A, F2],
    Part[A, F3],
    Part[A, F4],
]: ...
@overload
def split(
    node: A, f1: F1, f2: F2, f3: F3, f4: F4, f5: F5, /, *, graph: bool | None = None
) -> tuple[
    GraphDef[A],
    Part[A, F1],
    Part[A, F2],
    Part[A, F3],
    Part[A, F4],
    Part[A, F5],
]: ...
@overload
def split(
    node: A, f1: F1, f2: F2, f3: F3, f4: F4, f5: F5, f6: F6, /, *, graph: bool | None = None
) -> tuple[
    GraphDef[A],
    Part[A, F1],
    Part[A, F2],
    Part[A, F3],
    Part[A, F4],
    Part[A, F5],
    Part[A, F6],
]: ...
@overload
def split(node: object, *filters: Filter, graph: bool | None = None) -> tuple[Any, ...]: ...
def split(node: Any, *filters: Any, graph: bool | None = None) -> Any:
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
        FilterOrderError: `...` is not the last filter.
        SharedReferenceError: ``graph=False`` and an object is reached on two paths.
    """
    is_tree = require_tree("split", node, graph)
    record = snapshot(node)
    return (record.graphdef.of_mode(is_tree), *_states("split", record, filters))


# The State that an object's own type names is the more precise answer.
@overload
def state(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    node: SupportsState[S], *, graph: bool | None = None
) -> S: ...
@overload
def state(node: A, *, graph: bool | None = None) -> State[Any, Any, A, Any]: ...
@overload
def state(node: A, f1: F1, /, *, graph: bool | None = None) -> Part[A, F1]: ...
@overload
def state(
    node: A, f1: F1, f2: F2, /, *, graph: bool | None = None
) -> tuple[Part[A, F1], Part[A, F2]]: ...
@overload
def state(
    node: A, f1: F1, f2: F2, f3: F3, /, *, graph: bool | None = None
) -> tuple[Part[A, F1], Part[A, F2], Part[A, F3]]: ...
@overload
def state(
    node: A, f1: F1, f2: F2, f3: F3, f4: F4, /, *, graph: bool | None = None
) -> tuple[Part[A, F1], Part[A, F2], Part[A, F3], Part[A, F4]]: ...
@overload
def state(
    node: A, f1: F1, f2: F2, f3: F3, f4: F4, f5: F5, /, *, graph: bool | None = None
) -> tuple[
    Part[A, F1],
    Part[A, F2],
    Part[A, F3],
    Part[A, F4],
    Part[A, F5],
]: ...
@overload
def state(
    node: A, f1: F1, f2: F2, f3: F3, f4: F4, f5: F5, f6: F6, /, *, graph: bool | None = None
) -> tuple[
    Part[A, F1],
    Part[A, F2],
    Part[A, F3],
    Part[A, F4],
    Part[A, F5],
    Part[A, F6],
]: ...
@overload
def state(node: object, *filters: Filter, graph: bool | None = None) -> Any: ...
def state(node: Any, *filters: Any, graph: bool | None = None) -> Any:
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
    *states: Any,
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
        GraphStateError: After a GraphState comes something else, or one of another structure.
        TypeError: There is no State at all, and the structure has leaves.
    """
    given = graphdef_or_graphstate
    if not states and isinstance(given, GraphDef) and given.layout.paths:
        raise TypeError(
            "merge() missing 1 required positional argument: 'state'\n"
            "  Fix: nnx.merge(graphdef, *states), with every State that `split` returned"
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


def _check_graph_states(first: GraphState[Any], others: tuple[Any, ...]) -> None:
    for position, other in enumerate(others, 1):
        if not isinstance(other, GraphState):
            kind = type(other).__name__
            raise GraphStateError(position, f"Expected GraphState object, got {kind}")
        if other.graphdef != first.graphdef:
            raise GraphStateError(position, "GraphDef must be the same, got another structure")


@overload
def unpack(node: A, first: Filter = ..., /, *, graph: bool | None = None) -> GraphState[A]: ...
@overload
def unpack(
    node: A, first: Filter, second: Filter, /, *filters: Filter, graph: bool | None = None
) -> tuple[GraphState[A], ...]: ...
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
        raise ValueError(
            "clone: arrays=True needs variables=True, got variables=False.\n"
            "  Fix: nnx.clone(node, arrays=True)"
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


def _copied(leaf: Any) -> Any:
    if isinstance(leaf, Variable):
        return leaf.__deepcopy__({})
    return leaf.copy() if hasattr(leaf, "copy") else leaf
