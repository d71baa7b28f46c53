# Generated from the source of typed_nnx._transforms.jvp by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable
from collections.abc import Sequence
from typed_nnx._core.state import State
from typed_nnx._transforms.lifted import Lifted
from typing import Any
from typing import Literal
from typing import TypeVar
from typing import Unpack
from typing import overload

_A0 = TypeVar("_A0")
_A1 = TypeVar("_A1")
_A2 = TypeVar("_A2")
_A3 = TypeVar("_A3")
_X = TypeVar("_X")

R = TypeVar("R")

class Jvp(Lifted[[Sequence[Any], Sequence[Any]], R]):
    _has_aux: bool
    transform = "jvp"
    def __init__(
        self,
        function: Callable[..., Any],
        has_aux: bool,
        graph: bool | None,
        graph_updates: bool | None,
    ) -> None: ...
    def __call__(self, primals: Sequence[Any], tangents: Sequence[Any]) -> R: ...

@overload
def jvp(f: Callable[[_A0], R], primals: tuple[_A0], tangents: tuple[_A0 | State[Any, Any, Any, Any]] | list[Any], *, has_aux: Literal[False] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R]: ...
@overload
def jvp(f: Callable[[_A0, _A1], R], primals: tuple[_A0, _A1], tangents: tuple[_A0 | State[Any, Any, Any, Any], _A1 | State[Any, Any, Any, Any]] | list[Any], *, has_aux: Literal[False] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R]: ...
@overload
def jvp(f: Callable[[_A0, _A1, _A2], R], primals: tuple[_A0, _A1, _A2], tangents: tuple[_A0 | State[Any, Any, Any, Any], _A1 | State[Any, Any, Any, Any], _A2 | State[Any, Any, Any, Any]] | list[Any], *, has_aux: Literal[False] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R]: ...
@overload
def jvp(f: Callable[[_A0, _A1, _A2, _A3], R], primals: tuple[_A0, _A1, _A2, _A3], tangents: tuple[_A0 | State[Any, Any, Any, Any], _A1 | State[Any, Any, Any, Any], _A2 | State[Any, Any, Any, Any], _A3 | State[Any, Any, Any, Any]] | list[Any], *, has_aux: Literal[False] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R]: ...
@overload
def jvp(f: Callable[..., R], primals: list[Any] | tuple[Any, Any, Any, Any, Any, Unpack[tuple[Any, ...]]], tangents: Sequence[Any], *, has_aux: Literal[False] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R]: ...
@overload
def jvp(f: Callable[..., R], *, has_aux: Literal[False] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Jvp[tuple[R, R]]: ...
@overload
def jvp(*, has_aux: Literal[False] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[Callable[..., R]], Jvp[tuple[R, R]]]: ...
@overload
def jvp(f: Callable[[_A0], tuple[R, _X]], primals: tuple[_A0], tangents: tuple[_A0 | State[Any, Any, Any, Any]] | list[Any], *, has_aux: Literal[True], graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R, _X]: ...
@overload
def jvp(f: Callable[[_A0, _A1], tuple[R, _X]], primals: tuple[_A0, _A1], tangents: tuple[_A0 | State[Any, Any, Any, Any], _A1 | State[Any, Any, Any, Any]] | list[Any], *, has_aux: Literal[True], graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R, _X]: ...
@overload
def jvp(f: Callable[[_A0, _A1, _A2], tuple[R, _X]], primals: tuple[_A0, _A1, _A2], tangents: tuple[_A0 | State[Any, Any, Any, Any], _A1 | State[Any, Any, Any, Any], _A2 | State[Any, Any, Any, Any]] | list[Any], *, has_aux: Literal[True], graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R, _X]: ...
@overload
def jvp(f: Callable[[_A0, _A1, _A2, _A3], tuple[R, _X]], primals: tuple[_A0, _A1, _A2, _A3], tangents: tuple[_A0 | State[Any, Any, Any, Any], _A1 | State[Any, Any, Any, Any], _A2 | State[Any, Any, Any, Any], _A3 | State[Any, Any, Any, Any]] | list[Any], *, has_aux: Literal[True], graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R, _X]: ...
@overload
def jvp(f: Callable[..., tuple[R, _X]], primals: list[Any] | tuple[Any, Any, Any, Any, Any, Unpack[tuple[Any, ...]]], tangents: Sequence[Any], *, has_aux: Literal[True], graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R, _X]: ...
@overload
def jvp(f: Callable[..., tuple[R, _X]], *, has_aux: Literal[True], graph: bool | None = ..., graph_updates: bool | None = ...) -> Jvp[tuple[R, R, _X]]: ...
@overload
def jvp(*, has_aux: Literal[True], graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[Callable[..., tuple[R, _X]]], Jvp[tuple[R, R, _X]]]: ...
