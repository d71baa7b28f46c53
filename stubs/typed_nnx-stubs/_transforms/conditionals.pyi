# Generated from the source of typed_nnx._transforms.conditionals by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable
from collections.abc import Sequence
from jax.typing import ArrayLike
from typed_nnx._core.variable import Variable
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.inside import Inside
from typed_nnx._transforms.lift import Lift
from typed_nnx._transforms.outcomes import Flat
from typing import Any
from typing import TypeAlias
from typing import TypeVar
from typing import TypeVarTuple
from typing import overload

# What a condition, an index or a bound may be.
_Scalar: TypeAlias = ArrayLike | Variable[Any]

_B = TypeVar("_B")
_Ts = TypeVarTuple("_Ts")

A = TypeVar("A")

def cond(
    pred: _Scalar,
    true_fun: Callable[[*_Ts], A],
    false_fun: Callable[[*_Ts], _B],
    *operands: *_Ts,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> A | _B: ...

@overload
def switch(
    index: _Scalar,
    branches: Sequence[Callable[[*_Ts], A]],
    *operands: *_Ts,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> A: ...
@overload
def switch(
    index: _Scalar,
    branches: Sequence[Callable[[*_Ts], Any]],
    *operands: *_Ts,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any: ...

def _branches(
    name: str,
    functions: tuple[Callable[..., Any], ...],
    operands: Sequence[Any],
    graph: bool | None,
    graph_updates: bool | None,
) -> tuple[Call, _Branches]: ...

class _Branches:
    _first: tuple[int, Flat] | None
    lift: Lift
    _call: Call
    _copies: Any
    functions: Any
    def __init__(self, lift: Lift, call: Call) -> None: ...
    def _made(self) -> list[Callable[..., Flat]]: ...
    def chosen(self, run: Callable[[], Flat]) -> Flat: ...
    def _branch(self, number: int) -> Callable[..., Flat]: ...
    def _compare(self, first: int, one: Flat, number: int, other: Flat) -> None: ...
    def _name(self, number: int) -> str: ...

def _without_captured(result: Any, inside: Inside) -> Any: ...
