# Generated from the source of typed_nnx._transforms.vjp by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

import jax
from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Sequence
from jax.typing import ArrayLike
from typed_nnx._core.state import State
from typed_nnx._transforms.lifted import Lifted
from typed_nnx._transforms.signature import Argument
from typed_nnx._transforms.tangents import Results
from typing import Any
from typing import Generic
from typing import Literal
from typing import ParamSpec
from typing import TypeVar
from typing import Unpack
from typing import overload

_A0 = TypeVar("_A0")
_A1 = TypeVar("_A1")
_A2 = TypeVar("_A2")
_A3 = TypeVar("_A3")
_X = TypeVar("_X")

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
A_co = TypeVar("A_co", covariant=True)

class Pullback(Generic[R_co, A_co]):
    _pull: Callable[..., Any]
    _arguments: tuple[Argument | None, ...]
    _results: Results
    def __init__(self, pull: Callable[..., Any], arguments: tuple[Argument | None, ...], results: Results) -> None: ...
    @overload
    def __call__(self: Pullback[jax.Array, Any], cotangent: ArrayLike, /) -> A_co: ...
    @overload
    def __call__(self: Pullback[R, Any], cotangent: R | State[Any, Any, Any, Any], /) -> A_co: ...

class Vjp(Lifted[P, R]):
    _has_aux: bool
    _rest: dict[str, Any]
    transform = "vjp"
    def __init__(
        self,
        function: Callable[P, Any],
        has_aux: bool,
        rest: dict[str, Any],
        graph: bool | None,
        graph_updates: bool | None,
    ) -> None: ...
    def __call__(self, *primals: P.args, **kwargs: P.kwargs) -> R: ...

@overload
def vjp(f: Callable[[_A0], R], *primals: Unpack[tuple[_A0]], has_aux: Literal[False] = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[_A0]]]: ...
@overload
def vjp(f: Callable[[_A0, _A1], R], *primals: Unpack[tuple[_A0, _A1]], has_aux: Literal[False] = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[_A0, _A1]]]: ...
@overload
def vjp(f: Callable[[_A0, _A1, _A2], R], *primals: Unpack[tuple[_A0, _A1, _A2]], has_aux: Literal[False] = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[_A0, _A1, _A2]]]: ...
@overload
def vjp(f: Callable[[_A0, _A1, _A2, _A3], R], *primals: Unpack[tuple[_A0, _A1, _A2, _A3]], has_aux: Literal[False] = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[_A0, _A1, _A2, _A3]]]: ...
@overload
def vjp(f: Callable[..., R], *primals: Unpack[tuple[Any, Any, Any, Any, Any, Unpack[tuple[Any, ...]]]], has_aux: Literal[False] = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[Any, ...]]]: ...
@overload
def vjp(f: Callable[P, R], *, has_aux: Literal[False] = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Vjp[P, tuple[R, Pullback[R, tuple[Any, ...]]]]: ...
@overload
def vjp(*, has_aux: Literal[False] = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[Callable[P, R]], Vjp[P, tuple[R, Pullback[R, tuple[Any, ...]]]]]: ...
@overload
def vjp(f: Callable[[_A0], tuple[R, _X]], *primals: Unpack[tuple[_A0]], has_aux: Literal[True], reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[_A0]], _X]: ...
@overload
def vjp(f: Callable[[_A0, _A1], tuple[R, _X]], *primals: Unpack[tuple[_A0, _A1]], has_aux: Literal[True], reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[_A0, _A1]], _X]: ...
@overload
def vjp(f: Callable[[_A0, _A1, _A2], tuple[R, _X]], *primals: Unpack[tuple[_A0, _A1, _A2]], has_aux: Literal[True], reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[_A0, _A1, _A2]], _X]: ...
@overload
def vjp(f: Callable[[_A0, _A1, _A2, _A3], tuple[R, _X]], *primals: Unpack[tuple[_A0, _A1, _A2, _A3]], has_aux: Literal[True], reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[_A0, _A1, _A2, _A3]], _X]: ...
@overload
def vjp(f: Callable[..., tuple[R, _X]], *primals: Unpack[tuple[Any, Any, Any, Any, Any, Unpack[tuple[Any, ...]]]], has_aux: Literal[True], reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[Any, ...]], _X]: ...
@overload
def vjp(f: Callable[P, tuple[R, _X]], *, has_aux: Literal[True], reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Vjp[P, tuple[R, Pullback[R, tuple[Any, ...]], _X]]: ...
@overload
def vjp(*, has_aux: Literal[True], reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[Callable[P, tuple[R, _X]]], Vjp[P, tuple[R, Pullback[R, tuple[Any, ...]], _X]]]: ...
