# Generated from the source of typed_nnx._transforms.eval_shape by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable
from collections.abc import Mapping
from jax.sharding import NamedSharding
from typed_nnx._core.variable import Variable
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.outcomes import Flat
from typing import Any
from typing import ParamSpec
from typing import Protocol
from typing import TypeAlias
from typing import TypeVar
from typing import overload

_P = ParamSpec("_P")
class _Struct(Protocol):
    @property
    def shape(self) -> Any: ...
    def update(self, **kwargs: Any) -> Any: ...

_Shape: TypeAlias = _Struct | tuple[_Struct, ...] | list[_Struct] | Mapping[Any, _Struct]

A = TypeVar("A")

@overload
def eval_shape(
    f: Callable[_P, A],
    *args: _P.args,
    **kwargs: _P.kwargs,
) -> A: ...
@overload
def eval_shape(  # type: ignore[overload-cannot-match]
    f: Callable[..., A],
    _0: _Shape,
    *args: Any,
    **kwargs: Any,
) -> A: ...
@overload
def eval_shape(  # type: ignore[overload-cannot-match]
    f: Callable[..., A],
    _0: Any,
    _1: _Shape,
    *args: Any,
    **kwargs: Any,
) -> A: ...
@overload
def eval_shape(  # type: ignore[overload-cannot-match]
    f: Callable[..., A],
    _0: Any,
    _1: Any,
    _2: _Shape,
    *args: Any,
    **kwargs: Any,
) -> A: ...
@overload
def eval_shape(  # type: ignore[overload-cannot-match]
    f: Callable[..., A],
    _0: Any,
    _1: Any,
    _2: Any,
    _3: _Shape,
    *args: Any,
    **kwargs: Any,
) -> A: ...
@overload
def eval_shape(  # type: ignore[overload-cannot-match]
    f: Callable[..., A],
    _0: Any,
    _1: Any,
    _2: Any,
    _3: Any,
    _4: _Shape,
    *args: Any,
    **kwargs: Any,
) -> A: ...
@overload
def eval_shape(  # type: ignore[overload-cannot-match]
    f: Callable[..., A],
    _0: Any,
    _1: Any,
    _2: Any,
    _3: Any,
    _4: Any,
    _5: _Shape,
    *args: Any,
    **kwargs: Any,
) -> A: ...
@overload
def eval_shape(  # type: ignore[overload-cannot-match]
    f: Callable[..., A],
    *args: Any,
    graph: bool | None,
    graph_updates: bool | None = None,
    **kwargs: Any,
) -> A: ...
@overload
def eval_shape(  # type: ignore[overload-cannot-match]
    f: Callable[..., A],
    *args: Any,
    graph: bool | None = None,
    graph_updates: bool | None,
    **kwargs: Any,
) -> A: ...

def shapes_of(
    f: Callable[..., Any],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] = ...,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any: ...
def abstract_result(call: Call, found: Flat) -> Any: ...
def _declare_shardings(result: Any) -> None: ...
def _declared_sharding(variable: Variable[Any], path: Any) -> NamedSharding | None: ...
def _abstract(value: Any) -> Any: ...
