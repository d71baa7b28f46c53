# Written by `make stubs`. Do not edit. There is no such module at run time: these are the types
# that checkers give to the functions of the source with `typed_as`.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable
from typed_nnx._core.filters import Filter, HasSelect, HasSelectAndLeave, Predicate, Selects, SelectsNext, SelectsRest, SupportsDivision, SupportsPart, SupportsSplit, SupportsSplitPart, SupportsState, TypeFilter
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import GraphDef, GraphState
from types import EllipsisType
from typing import Any, TypeAlias, TypeVar, overload

MYPY = False
# What is in a list is left open: checkers infer its type before they compare it with this one.
# `...` may come first here, which is wrong: a variable of the type `Filter` may hold it.
_AnyFilter: TypeAlias = type | str | Predicate | bool | EllipsisType | tuple[Any, ...] | list[Any] | None
_Selective: TypeAlias = type | str | Predicate | tuple[Any, ...] | list[Any]
# What comes of filters after one that takes every leaf: it cannot be unpacked.
class _EllipsisIsNotLast: ...

A = TypeVar("A")
L = TypeVar("L", bound=_AnyFilter)
T1 = TypeVar("T1")
S1 = TypeVar("S1")
S2 = TypeVar("S2")
S3 = TypeVar("S3")
S4 = TypeVar("S4")
S5 = TypeVar("S5")
S6 = TypeVar("S6")
R1 = TypeVar("R1")
R2 = TypeVar("R2")
R3 = TypeVar("R3")
R4 = TypeVar("R4")
R5 = TypeVar("R5")
R6 = TypeVar("R6")
F1 = TypeVar("F1", bound=_AnyFilter)
F2 = TypeVar("F2", bound=_AnyFilter)
F3 = TypeVar("F3", bound=_AnyFilter)
F4 = TypeVar("F4", bound=_AnyFilter)
F5 = TypeVar("F5", bound=_AnyFilter)
F6 = TypeVar("F6", bound=_AnyFilter)
V1 = TypeVar("V1", bound=Variable[Any])
V2 = TypeVar("V2", bound=Variable[Any])
V3 = TypeVar("V3", bound=Variable[Any])
V4 = TypeVar("V4", bound=Variable[Any])
V5 = TypeVar("V5", bound=Variable[Any])
V6 = TypeVar("V6", bound=Variable[Any])

if not MYPY:
    @overload
    def state(node: A, f1: EllipsisType, f2: _Selective, /, *filters: Filter, graph: bool | None = None) -> _EllipsisIsNotLast:
        """Return the State of an object graph, or one State per filter.

        Unlike `split` it leaves out what no filter matches.

        Args:
            node: An object, or a container of objects.
            *filters: Which leaves; all without filters.
            graph: False asserts that the graph is a tree.
        """
    @overload
    def state(node: A, f1: Filter, f2: EllipsisType, f3: _Selective, /, *filters: Filter, graph: bool | None = None) -> _EllipsisIsNotLast: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: V1, *, graph: bool | None = None) -> V1: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: V1, f1: Filter, /, *, graph: bool | None = None) -> V1: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: SupportsPart[EllipsisType, S1], f1: EllipsisType, /, *, graph: bool | None = None) -> S1: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: SupportsState[S1], *, graph: bool | None = None) -> S1: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, *, graph: bool | None = None) -> State[Any, Any, A, Any]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: SupportsPart[T1, S1], f1: TypeFilter[T1], /, *, graph: bool | None = None) -> S1: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: HasSelect[Callable[[A], S1]], /, *, graph: bool | None = None) -> S1: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: type[V1], /, *, graph: bool | None = None) -> State[Any, Any, A, type[V1]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: L, /, *, graph: bool | None = None) -> State[Any, Any, A, L]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: Selects[A, S1], f2: Selects[A, S2], /, *, graph: bool | None = None) -> tuple[S1, S2]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: HasSelectAndLeave[Callable[[A], S1], Callable[[A], R1]], f2: EllipsisType, /, *, graph: bool | None = None) -> tuple[S1, R1]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: type[V1], f2: type[V2], /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: type[V1], f2: L, /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, L]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: F1, f2: type[V2], /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, type[V2]]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: F1, f2: L, /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, L]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], /, *, graph: bool | None = None) -> tuple[S1, S2, S3]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: EllipsisType, /, *, graph: bool | None = None) -> tuple[S1, S2, R2]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: type[V1], f2: type[V2], f3: type[V3], /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: type[V1], f2: type[V2], f3: L, /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, L]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: type[V1], f2: F2, f3: type[V3], /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, F2], State[Any, Any, A, type[V3]]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: type[V1], f2: F2, f3: L, /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, F2], State[Any, Any, A, L]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: F1, f2: type[V2], f3: type[V3], /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: F1, f2: type[V2], f3: L, /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, type[V2]], State[Any, Any, A, L]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: F1, f2: F2, f3: type[V3], /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, F2], State[Any, Any, A, type[V3]]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: F1, f2: F2, f3: L, /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, F2], State[Any, Any, A, L]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], /, *, graph: bool | None = None) -> tuple[S1, S2, S3, S4]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: EllipsisType, /, *, graph: bool | None = None) -> tuple[S1, S2, S3, R3]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, type[V4]]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: L, /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, L]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: F1, f2: F2, f3: F3, f4: L, /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, F2], State[Any, Any, A, F3], State[Any, Any, A, L]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], f5: Selects[A, S5], /, *, graph: bool | None = None) -> tuple[S1, S2, S3, S4, S5]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: SelectsNext[A, R3, S4, R4], f5: EllipsisType, /, *, graph: bool | None = None) -> tuple[S1, S2, S3, S4, R4]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, type[V4]], State[Any, Any, A, type[V5]]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: L, /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, type[V4]], State[Any, Any, A, L]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: F1, f2: F2, f3: F3, f4: F4, f5: L, /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, F2], State[Any, Any, A, F3], State[Any, Any, A, F4], State[Any, Any, A, L]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], f5: Selects[A, S5], f6: Selects[A, S6], /, *, graph: bool | None = None) -> tuple[S1, S2, S3, S4, S5, S6]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: SelectsNext[A, R3, S4, R4], f5: SelectsNext[A, R4, S5, R5], f6: EllipsisType, /, *, graph: bool | None = None) -> tuple[S1, S2, S3, S4, S5, R5]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], f6: type[V6], /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, type[V4]], State[Any, Any, A, type[V5]], State[Any, Any, A, type[V6]]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], f6: L, /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, type[V4]], State[Any, Any, A, type[V5]], State[Any, Any, A, L]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: F1, f2: F2, f3: F3, f4: F4, f5: F5, f6: L, /, *, graph: bool | None = None) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, F2], State[Any, Any, A, F3], State[Any, Any, A, F4], State[Any, Any, A, F5], State[Any, Any, A, L]]: """Return the State of an object graph, or one State per filter."""
@overload
def state(node: A, f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, f6: Filter, f7: Filter, /, *filters: Filter, graph: bool | None = None) -> Any: """Return the State of an object graph, or one State per filter."""

if not MYPY:
    @overload
    def split(node: A, f1: EllipsisType, f2: _Selective, /, *filters: Filter, graph: bool | None = None) -> _EllipsisIsNotLast:
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
    @overload
    def split(node: A, f1: Filter, f2: EllipsisType, f3: _Selective, /, *filters: Filter, graph: bool | None = None) -> _EllipsisIsNotLast: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: V1, *, graph: bool | None = None) -> tuple[GraphDef[V1], V1]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: V1, f1: Filter, /, *, graph: bool | None = None) -> tuple[GraphDef[V1], V1]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: SupportsSplitPart[A, EllipsisType, S1], f1: EllipsisType, /, *, graph: bool | None = None) -> tuple[GraphDef[A], S1]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: SupportsSplit[A, S1], *, graph: bool | None = None) -> tuple[GraphDef[A], S1]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, Any]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: SupportsSplitPart[A, T1, S1], f1: TypeFilter[T1], /, *, graph: bool | None = None) -> tuple[GraphDef[A], S1]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: SupportsDivision[A, T1, R1, S1], f1: TypeFilter[T1], f2: EllipsisType, /, *, graph: bool | None = None) -> tuple[GraphDef[A], S1, R1]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: HasSelect[Callable[[A], S1]], /, *, graph: bool | None = None) -> tuple[GraphDef[A], S1]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: type[V1], /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, type[V1]]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: L, /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, L]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: Selects[A, S1], f2: Selects[A, S2], /, *, graph: bool | None = None) -> tuple[GraphDef[A], S1, S2]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: HasSelectAndLeave[Callable[[A], S1], Callable[[A], R1]], f2: EllipsisType, /, *, graph: bool | None = None) -> tuple[GraphDef[A], S1, R1]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: type[V1], f2: type[V2], /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: type[V1], f2: L, /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, type[V1]], State[Any, Any, A, L]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: F1, f2: type[V2], /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, F1], State[Any, Any, A, type[V2]]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: F1, f2: L, /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, F1], State[Any, Any, A, L]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], /, *, graph: bool | None = None) -> tuple[GraphDef[A], S1, S2, S3]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: EllipsisType, /, *, graph: bool | None = None) -> tuple[GraphDef[A], S1, S2, R2]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: type[V1], f2: type[V2], f3: type[V3], /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: type[V1], f2: type[V2], f3: L, /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, L]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: type[V1], f2: F2, f3: type[V3], /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, type[V1]], State[Any, Any, A, F2], State[Any, Any, A, type[V3]]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: type[V1], f2: F2, f3: L, /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, type[V1]], State[Any, Any, A, F2], State[Any, Any, A, L]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: F1, f2: type[V2], f3: type[V3], /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, F1], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: F1, f2: type[V2], f3: L, /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, F1], State[Any, Any, A, type[V2]], State[Any, Any, A, L]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: F1, f2: F2, f3: type[V3], /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, F1], State[Any, Any, A, F2], State[Any, Any, A, type[V3]]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: F1, f2: F2, f3: L, /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, F1], State[Any, Any, A, F2], State[Any, Any, A, L]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], /, *, graph: bool | None = None) -> tuple[GraphDef[A], S1, S2, S3, S4]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: EllipsisType, /, *, graph: bool | None = None) -> tuple[GraphDef[A], S1, S2, S3, R3]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, type[V4]]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: L, /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, L]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: F1, f2: F2, f3: F3, f4: L, /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, F1], State[Any, Any, A, F2], State[Any, Any, A, F3], State[Any, Any, A, L]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], f5: Selects[A, S5], /, *, graph: bool | None = None) -> tuple[GraphDef[A], S1, S2, S3, S4, S5]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: SelectsNext[A, R3, S4, R4], f5: EllipsisType, /, *, graph: bool | None = None) -> tuple[GraphDef[A], S1, S2, S3, S4, R4]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, type[V4]], State[Any, Any, A, type[V5]]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: L, /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, type[V4]], State[Any, Any, A, L]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: F1, f2: F2, f3: F3, f4: F4, f5: L, /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, F1], State[Any, Any, A, F2], State[Any, Any, A, F3], State[Any, Any, A, F4], State[Any, Any, A, L]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], f5: Selects[A, S5], f6: Selects[A, S6], /, *, graph: bool | None = None) -> tuple[GraphDef[A], S1, S2, S3, S4, S5, S6]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: SelectsNext[A, R3, S4, R4], f5: SelectsNext[A, R4, S5, R5], f6: EllipsisType, /, *, graph: bool | None = None) -> tuple[GraphDef[A], S1, S2, S3, S4, S5, R5]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], f6: type[V6], /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, type[V4]], State[Any, Any, A, type[V5]], State[Any, Any, A, type[V6]]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], f6: L, /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, type[V4]], State[Any, Any, A, type[V5]], State[Any, Any, A, L]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: F1, f2: F2, f3: F3, f4: F4, f5: F5, f6: L, /, *, graph: bool | None = None) -> tuple[GraphDef[A], State[Any, Any, A, F1], State[Any, Any, A, F2], State[Any, Any, A, F3], State[Any, Any, A, F4], State[Any, Any, A, F5], State[Any, Any, A, L]]: """Split an object graph into its structure and one State per filter."""
@overload
def split(node: A, f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, f6: Filter, f7: Filter, /, *filters: Filter, graph: bool | None = None) -> tuple[GraphDef[A], *tuple[State[Any, Any, A, Any], ...]]: """Split an object graph into its structure and one State per filter."""

@overload
def unpack(node: A, *, graph: bool | None = None) -> GraphState[A]:
    """Split an object graph into `GraphState`s, each of which carries the structure with it.

    Args:
        node: An object, or a container of objects.
        *filters: As for `split`.
        graph: False asserts that the graph is a tree.
    """
@overload
def unpack(node: A, f1: Filter, /, *, graph: bool | None = None) -> GraphState[A]: """Split an object graph into `GraphState`s, each of which carries the structure with it."""
@overload
def unpack(node: A, f1: Filter, f2: Filter, /, *, graph: bool | None = None) -> tuple[GraphState[A], GraphState[A]]: """Split an object graph into `GraphState`s, each of which carries the structure with it."""
@overload
def unpack(node: A, f1: Filter, f2: Filter, f3: Filter, /, *, graph: bool | None = None) -> tuple[GraphState[A], GraphState[A], GraphState[A]]: """Split an object graph into `GraphState`s, each of which carries the structure with it."""
@overload
def unpack(node: A, f1: Filter, f2: Filter, f3: Filter, f4: Filter, /, *, graph: bool | None = None) -> tuple[GraphState[A], GraphState[A], GraphState[A], GraphState[A]]: """Split an object graph into `GraphState`s, each of which carries the structure with it."""
@overload
def unpack(node: A, f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, /, *, graph: bool | None = None) -> tuple[GraphState[A], GraphState[A], GraphState[A], GraphState[A], GraphState[A]]: """Split an object graph into `GraphState`s, each of which carries the structure with it."""
@overload
def unpack(node: A, f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, f6: Filter, /, *, graph: bool | None = None) -> tuple[GraphState[A], GraphState[A], GraphState[A], GraphState[A], GraphState[A], GraphState[A]]: """Split an object graph into `GraphState`s, each of which carries the structure with it."""
@overload
def unpack(node: A, f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, f6: Filter, f7: Filter, /, *filters: Filter, graph: bool | None = None) -> tuple[GraphState[A], ...]: """Split an object graph into `GraphState`s, each of which carries the structure with it."""

if not MYPY:
    @overload
    def pop(node: A, f1: EllipsisType, f2: _Selective, /, *filters: Filter) -> _EllipsisIsNotLast:
        """Take the Variables that filters match out of an object graph and return them.

        A shared Variable is returned once and taken out of the first of its places.

        Args:
            node: An object, or a container of objects.
            *filters: At least one; the result is one State, or a tuple with one for each filter.

        Raises:
            ArgumentError: There is no filter.
            GraphError: A match is in a list or tuple, from which nothing can be taken out.
        """
    @overload
    def pop(node: A, f1: Filter, f2: EllipsisType, f3: _Selective, /, *filters: Filter) -> _EllipsisIsNotLast: """Take the Variables that filters match out of an object graph and return them."""

@overload
def pop(node: A, f1: HasSelect[Callable[[A], S1]], /) -> S1: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: type[V1], /) -> State[Any, Any, A, type[V1]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: L, /) -> State[Any, Any, A, L]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: Selects[A, S1], f2: Selects[A, S2], /) -> tuple[S1, S2]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: HasSelectAndLeave[Callable[[A], S1], Callable[[A], R1]], f2: EllipsisType, /) -> tuple[S1, R1]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: type[V1], f2: type[V2], /) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: type[V1], f2: L, /) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, L]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: F1, f2: type[V2], /) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, type[V2]]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: F1, f2: L, /) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, L]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], /) -> tuple[S1, S2, S3]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: EllipsisType, /) -> tuple[S1, S2, R2]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: type[V1], f2: type[V2], f3: type[V3], /) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: type[V1], f2: type[V2], f3: L, /) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, L]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: type[V1], f2: F2, f3: type[V3], /) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, F2], State[Any, Any, A, type[V3]]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: type[V1], f2: F2, f3: L, /) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, F2], State[Any, Any, A, L]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: F1, f2: type[V2], f3: type[V3], /) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: F1, f2: type[V2], f3: L, /) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, type[V2]], State[Any, Any, A, L]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: F1, f2: F2, f3: type[V3], /) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, F2], State[Any, Any, A, type[V3]]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: F1, f2: F2, f3: L, /) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, F2], State[Any, Any, A, L]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], /) -> tuple[S1, S2, S3, S4]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: EllipsisType, /) -> tuple[S1, S2, S3, R3]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], /) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, type[V4]]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: L, /) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, L]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: F1, f2: F2, f3: F3, f4: L, /) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, F2], State[Any, Any, A, F3], State[Any, Any, A, L]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], f5: Selects[A, S5], /) -> tuple[S1, S2, S3, S4, S5]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: SelectsNext[A, R3, S4, R4], f5: EllipsisType, /) -> tuple[S1, S2, S3, S4, R4]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], /) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, type[V4]], State[Any, Any, A, type[V5]]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: L, /) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, type[V4]], State[Any, Any, A, L]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: F1, f2: F2, f3: F3, f4: F4, f5: L, /) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, F2], State[Any, Any, A, F3], State[Any, Any, A, F4], State[Any, Any, A, L]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], f5: Selects[A, S5], f6: Selects[A, S6], /) -> tuple[S1, S2, S3, S4, S5, S6]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: SelectsNext[A, R3, S4, R4], f5: SelectsNext[A, R4, S5, R5], f6: EllipsisType, /) -> tuple[S1, S2, S3, S4, S5, R5]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], f6: type[V6], /) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, type[V4]], State[Any, Any, A, type[V5]], State[Any, Any, A, type[V6]]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], f6: L, /) -> tuple[State[Any, Any, A, type[V1]], State[Any, Any, A, type[V2]], State[Any, Any, A, type[V3]], State[Any, Any, A, type[V4]], State[Any, Any, A, type[V5]], State[Any, Any, A, L]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: F1, f2: F2, f3: F3, f4: F4, f5: F5, f6: L, /) -> tuple[State[Any, Any, A, F1], State[Any, Any, A, F2], State[Any, Any, A, F3], State[Any, Any, A, F4], State[Any, Any, A, F5], State[Any, Any, A, L]]: """Take the Variables that filters match out of an object graph and return them."""
@overload
def pop(node: A, f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, f6: Filter, f7: Filter, /, *filters: Filter) -> Any: """Take the Variables that filters match out of an object graph and return them."""
