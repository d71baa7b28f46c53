# Generated from the source of typed_nnx._transforms.make_jaxpr by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from jax.extend.core import ClosedJaxpr
from typed_nnx._transforms.lifted import Lifted
from typing import Any
from typing import ParamSpec
from typing import Protocol
from typing import TypeAlias
from typing import overload

class _Struct(Protocol):
    @property
    def shape(self) -> Any: ...
    def update(self, **kwargs: Any) -> Any: ...

_Shape: TypeAlias = _Struct | tuple[_Struct, ...] | list[_Struct] | Mapping[Any, _Struct]

P = ParamSpec("P")

class Traceable(Lifted[P, ClosedJaxpr]):
    transform: str
    def __init__(
        self,
        function: Callable[P, Any],
        static_argnums: int | Sequence[int],
        graph: bool | None,
        graph_updates: bool | None,
    ) -> None: ...
    @overload
    def __call__(
        self,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> ClosedJaxpr: ...
    @overload
    def __call__(
        self,
        _0: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> ClosedJaxpr: ...
    @overload
    def __call__(
        self,
        _0: Any,
        _1: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> ClosedJaxpr: ...
    @overload
    def __call__(
        self,
        _0: Any,
        _1: Any,
        _2: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> ClosedJaxpr: ...
    @overload
    def __call__(
        self,
        _0: Any,
        _1: Any,
        _2: Any,
        _3: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> ClosedJaxpr: ...
    @overload
    def __call__(
        self,
        _0: Any,
        _1: Any,
        _2: Any,
        _3: Any,
        _4: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> ClosedJaxpr: ...
    @overload
    def __call__(
        self,
        _0: Any,
        _1: Any,
        _2: Any,
        _3: Any,
        _4: Any,
        _5: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> ClosedJaxpr: ...

@overload
def make_jaxpr(
    f: Callable[P, Any],
    *,
    static_argnums: int | Sequence[int] = (),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Traceable[P]: ...
@overload
def make_jaxpr(
    *,
    static_argnums: int | Sequence[int] = (),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[P, Any]], Traceable[P]]: ...
