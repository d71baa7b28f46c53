# Written by `make stubs`. Do not edit. There is no such module at run time: these are the types
# that checkers give to the functions of the source with `typed_as`.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable
from typed_nnx._core.filters import Filter, HasFields, HasSelect, HasSelectAndLeave, Predicate, Selects, SelectsNext, SelectsRest
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
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
K = TypeVar("K")
L1 = TypeVar("L1")

if not MYPY:
    @overload
    def split(self: State[K, L1, A, Any], f1: EllipsisType, f2: _Selective, /, *filters: Filter) -> _EllipsisIsNotLast:
        """Return one State per filter; each leaf goes to the first filter that matches it.

        Raises:
            NoFilterMatchedError: A leaf matches no filter.
        """
    @overload
    def split(self: State[K, L1, A, Any], f1: Filter, f2: EllipsisType, f3: _Selective, /, *filters: Filter) -> _EllipsisIsNotLast: """Return one State per filter; each leaf goes to the first filter that matches it."""

@overload
def split(self: HasFields[A], f1: HasSelect[Callable[[A], S1]], /) -> S1: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: type[V1], /) -> State[K, L1, A, type[V1]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: L, /) -> State[K, L1, A, L]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], /) -> tuple[S1, S2]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: HasFields[A], f1: HasSelectAndLeave[Callable[[A], S1], Callable[[A], R1]], f2: EllipsisType, /) -> tuple[S1, R1]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: type[V1], f2: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: F1, f2: type[V2], /) -> tuple[State[K, L1, A, F1], State[K, L1, A, type[V2]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: F1, f2: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], /) -> tuple[S1, S2, S3]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: HasFields[A], f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: EllipsisType, /) -> tuple[S1, S2, R2]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: type[V1], f2: F2, f3: type[V3], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, F2], State[K, L1, A, type[V3]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: type[V1], f2: F2, f3: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, F2], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: F1, f2: type[V2], f3: type[V3], /) -> tuple[State[K, L1, A, F1], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: F1, f2: type[V2], f3: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, type[V2]], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: F1, f2: F2, f3: type[V3], /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, type[V3]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: F1, f2: F2, f3: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], /) -> tuple[S1, S2, S3, S4]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: HasFields[A], f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: EllipsisType, /) -> tuple[S1, S2, S3, R3]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: F1, f2: F2, f3: F3, f4: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, F3], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], f5: Selects[A, S5], /) -> tuple[S1, S2, S3, S4, S5]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: HasFields[A], f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: SelectsNext[A, R3, S4, R4], f5: EllipsisType, /) -> tuple[S1, S2, S3, S4, R4]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]], State[K, L1, A, type[V5]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: F1, f2: F2, f3: F3, f4: F4, f5: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, F3], State[K, L1, A, F4], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], f5: Selects[A, S5], f6: Selects[A, S6], /) -> tuple[S1, S2, S3, S4, S5, S6]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: HasFields[A], f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: SelectsNext[A, R3, S4, R4], f5: SelectsNext[A, R4, S5, R5], f6: EllipsisType, /) -> tuple[S1, S2, S3, S4, S5, R5]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], f6: type[V6], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]], State[K, L1, A, type[V5]], State[K, L1, A, type[V6]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], f6: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]], State[K, L1, A, type[V5]], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: F1, f2: F2, f3: F3, f4: F4, f5: F5, f6: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, F3], State[K, L1, A, F4], State[K, L1, A, F5], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split(self: State[K, L1, A, Any], f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, f6: Filter, f7: Filter, /, *filters: Filter) -> Any: """Return one State per filter; each leaf goes to the first filter that matches it."""

if not MYPY:
    @overload
    def filter(self: State[K, L1, A, Any], f1: EllipsisType, f2: _Selective, /, *filters: Filter) -> _EllipsisIsNotLast: """Return one State per filter; leaves that no filter matches are dropped."""
    @overload
    def filter(self: State[K, L1, A, Any], f1: Filter, f2: EllipsisType, f3: _Selective, /, *filters: Filter) -> _EllipsisIsNotLast: """Return one State per filter; leaves that no filter matches are dropped."""

@overload
def filter(self: HasFields[A], f1: HasSelect[Callable[[A], S1]], /) -> S1: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: type[V1], /) -> State[K, L1, A, type[V1]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: L, /) -> State[K, L1, A, L]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], /) -> tuple[S1, S2]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: HasFields[A], f1: HasSelectAndLeave[Callable[[A], S1], Callable[[A], R1]], f2: EllipsisType, /) -> tuple[S1, R1]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: type[V1], f2: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: F1, f2: type[V2], /) -> tuple[State[K, L1, A, F1], State[K, L1, A, type[V2]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: F1, f2: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], /) -> tuple[S1, S2, S3]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: HasFields[A], f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: EllipsisType, /) -> tuple[S1, S2, R2]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: type[V1], f2: F2, f3: type[V3], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, F2], State[K, L1, A, type[V3]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: type[V1], f2: F2, f3: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, F2], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: F1, f2: type[V2], f3: type[V3], /) -> tuple[State[K, L1, A, F1], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: F1, f2: type[V2], f3: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, type[V2]], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: F1, f2: F2, f3: type[V3], /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, type[V3]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: F1, f2: F2, f3: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], /) -> tuple[S1, S2, S3, S4]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: HasFields[A], f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: EllipsisType, /) -> tuple[S1, S2, S3, R3]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: F1, f2: F2, f3: F3, f4: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, F3], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], f5: Selects[A, S5], /) -> tuple[S1, S2, S3, S4, S5]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: HasFields[A], f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: SelectsNext[A, R3, S4, R4], f5: EllipsisType, /) -> tuple[S1, S2, S3, S4, R4]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]], State[K, L1, A, type[V5]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: F1, f2: F2, f3: F3, f4: F4, f5: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, F3], State[K, L1, A, F4], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], f5: Selects[A, S5], f6: Selects[A, S6], /) -> tuple[S1, S2, S3, S4, S5, S6]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: HasFields[A], f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: SelectsNext[A, R3, S4, R4], f5: SelectsNext[A, R4, S5, R5], f6: EllipsisType, /) -> tuple[S1, S2, S3, S4, S5, R5]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], f6: type[V6], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]], State[K, L1, A, type[V5]], State[K, L1, A, type[V6]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], f6: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]], State[K, L1, A, type[V5]], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: F1, f2: F2, f3: F3, f4: F4, f5: F5, f6: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, F3], State[K, L1, A, F4], State[K, L1, A, F5], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter(self: State[K, L1, A, Any], f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, f6: Filter, f7: Filter, /, *filters: Filter) -> Any: """Return one State per filter; leaves that no filter matches are dropped."""

if not MYPY:
    @overload
    def split_state(state: State[K, L1, A, Any], f1: EllipsisType, f2: _Selective, /, *filters: Filter) -> _EllipsisIsNotLast:
        """Return one State per filter; each leaf goes to the first filter that matches it.

        Raises:
            NoFilterMatchedError: A leaf matches no filter.
        """
    @overload
    def split_state(state: State[K, L1, A, Any], f1: Filter, f2: EllipsisType, f3: _Selective, /, *filters: Filter) -> _EllipsisIsNotLast: """Return one State per filter; each leaf goes to the first filter that matches it."""

@overload
def split_state(state: HasFields[A], f1: HasSelect[Callable[[A], S1]], /) -> S1: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: type[V1], /) -> State[K, L1, A, type[V1]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: L, /) -> State[K, L1, A, L]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], /) -> tuple[S1, S2]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: HasFields[A], f1: HasSelectAndLeave[Callable[[A], S1], Callable[[A], R1]], f2: EllipsisType, /) -> tuple[S1, R1]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: type[V1], f2: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: F1, f2: type[V2], /) -> tuple[State[K, L1, A, F1], State[K, L1, A, type[V2]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: F1, f2: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], /) -> tuple[S1, S2, S3]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: HasFields[A], f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: EllipsisType, /) -> tuple[S1, S2, R2]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: type[V1], f2: F2, f3: type[V3], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, F2], State[K, L1, A, type[V3]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: type[V1], f2: F2, f3: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, F2], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: F1, f2: type[V2], f3: type[V3], /) -> tuple[State[K, L1, A, F1], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: F1, f2: type[V2], f3: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, type[V2]], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: F1, f2: F2, f3: type[V3], /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, type[V3]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: F1, f2: F2, f3: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], /) -> tuple[S1, S2, S3, S4]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: HasFields[A], f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: EllipsisType, /) -> tuple[S1, S2, S3, R3]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: F1, f2: F2, f3: F3, f4: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, F3], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], f5: Selects[A, S5], /) -> tuple[S1, S2, S3, S4, S5]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: HasFields[A], f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: SelectsNext[A, R3, S4, R4], f5: EllipsisType, /) -> tuple[S1, S2, S3, S4, R4]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]], State[K, L1, A, type[V5]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: F1, f2: F2, f3: F3, f4: F4, f5: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, F3], State[K, L1, A, F4], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], f5: Selects[A, S5], f6: Selects[A, S6], /) -> tuple[S1, S2, S3, S4, S5, S6]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: HasFields[A], f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: SelectsNext[A, R3, S4, R4], f5: SelectsNext[A, R4, S5, R5], f6: EllipsisType, /) -> tuple[S1, S2, S3, S4, S5, R5]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], f6: type[V6], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]], State[K, L1, A, type[V5]], State[K, L1, A, type[V6]]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], f6: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]], State[K, L1, A, type[V5]], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: F1, f2: F2, f3: F3, f4: F4, f5: F5, f6: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, F3], State[K, L1, A, F4], State[K, L1, A, F5], State[K, L1, A, L]]: """Return one State per filter; each leaf goes to the first filter that matches it."""
@overload
def split_state(state: State[K, L1, A, Any], f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, f6: Filter, f7: Filter, /, *filters: Filter) -> Any: """Return one State per filter; each leaf goes to the first filter that matches it."""

if not MYPY:
    @overload
    def filter_state(state: State[K, L1, A, Any], f1: EllipsisType, f2: _Selective, /, *filters: Filter) -> _EllipsisIsNotLast: """Return one State per filter; leaves that no filter matches are dropped."""
    @overload
    def filter_state(state: State[K, L1, A, Any], f1: Filter, f2: EllipsisType, f3: _Selective, /, *filters: Filter) -> _EllipsisIsNotLast: """Return one State per filter; leaves that no filter matches are dropped."""

@overload
def filter_state(state: HasFields[A], f1: HasSelect[Callable[[A], S1]], /) -> S1: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: type[V1], /) -> State[K, L1, A, type[V1]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: L, /) -> State[K, L1, A, L]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], /) -> tuple[S1, S2]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: HasFields[A], f1: HasSelectAndLeave[Callable[[A], S1], Callable[[A], R1]], f2: EllipsisType, /) -> tuple[S1, R1]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: type[V1], f2: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: F1, f2: type[V2], /) -> tuple[State[K, L1, A, F1], State[K, L1, A, type[V2]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: F1, f2: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], /) -> tuple[S1, S2, S3]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: HasFields[A], f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: EllipsisType, /) -> tuple[S1, S2, R2]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: type[V1], f2: F2, f3: type[V3], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, F2], State[K, L1, A, type[V3]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: type[V1], f2: F2, f3: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, F2], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: F1, f2: type[V2], f3: type[V3], /) -> tuple[State[K, L1, A, F1], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: F1, f2: type[V2], f3: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, type[V2]], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: F1, f2: F2, f3: type[V3], /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, type[V3]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: F1, f2: F2, f3: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], /) -> tuple[S1, S2, S3, S4]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: HasFields[A], f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: EllipsisType, /) -> tuple[S1, S2, S3, R3]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: F1, f2: F2, f3: F3, f4: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, F3], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], f5: Selects[A, S5], /) -> tuple[S1, S2, S3, S4, S5]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: HasFields[A], f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: SelectsNext[A, R3, S4, R4], f5: EllipsisType, /) -> tuple[S1, S2, S3, S4, R4]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]], State[K, L1, A, type[V5]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: F1, f2: F2, f3: F3, f4: F4, f5: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, F3], State[K, L1, A, F4], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: HasFields[A], f1: Selects[A, S1], f2: Selects[A, S2], f3: Selects[A, S3], f4: Selects[A, S4], f5: Selects[A, S5], f6: Selects[A, S6], /) -> tuple[S1, S2, S3, S4, S5, S6]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: HasFields[A], f1: SelectsRest[A, S1, R1], f2: SelectsNext[A, R1, S2, R2], f3: SelectsNext[A, R2, S3, R3], f4: SelectsNext[A, R3, S4, R4], f5: SelectsNext[A, R4, S5, R5], f6: EllipsisType, /) -> tuple[S1, S2, S3, S4, S5, R5]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], f6: type[V6], /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]], State[K, L1, A, type[V5]], State[K, L1, A, type[V6]]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: type[V1], f2: type[V2], f3: type[V3], f4: type[V4], f5: type[V5], f6: L, /) -> tuple[State[K, L1, A, type[V1]], State[K, L1, A, type[V2]], State[K, L1, A, type[V3]], State[K, L1, A, type[V4]], State[K, L1, A, type[V5]], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: F1, f2: F2, f3: F3, f4: F4, f5: F5, f6: L, /) -> tuple[State[K, L1, A, F1], State[K, L1, A, F2], State[K, L1, A, F3], State[K, L1, A, F4], State[K, L1, A, F5], State[K, L1, A, L]]: """Return one State per filter; leaves that no filter matches are dropped."""
@overload
def filter_state(state: State[K, L1, A, Any], f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, f6: Filter, f7: Filter, /, *filters: Filter) -> Any: """Return one State per filter; leaves that no filter matches are dropped."""
