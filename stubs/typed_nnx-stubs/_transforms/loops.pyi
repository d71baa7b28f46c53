# Generated from the source of typed_nnx._transforms.loops by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

import jax
from collections.abc import Callable
from jax.typing import ArrayLike
from typed_nnx._core.variable import Variable
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.inside import Inside
from typed_nnx._transforms.shown import shown
from typing import Any
from typing import TypeAlias
from typing import TypeVar
from typing import overload

# What a condition, an index or a bound may be.
_Scalar: TypeAlias = ArrayLike | Variable[Any]

T = TypeVar("T")

def while_loop(
    cond_fun: Callable[[T], _Scalar],
    body_fun: Callable[[T], T],
    init_val: T,
    *,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> T: ...

@overload
def fori_loop(
    lower: _Scalar,
    upper: _Scalar,
    body_fun: Callable[[jax.Array, T], T],
    init_val: T,
    *,
    unroll: int | bool | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> T: ...
@overload
def fori_loop(
    lower: _Scalar,
    upper: _Scalar,
    body_fun: Callable[[int, T], T],
    init_val: T,
    *,
    unroll: int | bool | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> T: ...

class _Loop:
    _call: Call
    _lift: Any
    _given: Any
    _argument: Any
    first: Any
    def __init__(
        self,
        name: str,
        functions: tuple[Callable[..., Any], ...],
        carry: Any,
        graph: bool | None,
        graph_updates: bool | None,
    ) -> None: ...
    def shown(self, flat: Callable[..., Any], which: int) -> Callable[..., Any]: ...
    def _enter(self, carry: Any) -> Inside: ...
    def condition(self, carry: Any) -> Any: ...
    def step(self, carry: Any, *before: Any) -> Any: ...
    def finish(self, final: Any) -> Any: ...
