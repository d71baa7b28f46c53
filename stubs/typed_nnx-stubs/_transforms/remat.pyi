# Generated from the source of typed_nnx._transforms.remat by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.interned import Kept
from typed_nnx._transforms.lifted import Lifted
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.signature import Signature
from typing import Any
from typing import NamedTuple
from typing import ParamSpec
from typing import TypeVar
from typing import overload

P = ParamSpec("P")
R = TypeVar("R")

class RematOptions(NamedTuple):
    prevent_cse: bool = ...
    policy: Callable[..., bool] | None = ...
    static_argnums: tuple[int, ...] = ...
    static_argnames: tuple[str, ...] = ...

class Rematerialised(Lifted[P, R]):
    _made: Kept[Callable[..., Flat]]
    _options: RematOptions
    transform = "remat"
    def __init__(
        self,
        function: Callable[P, R],
        options: RematOptions,
        graph: bool | None,
        graph_updates: bool | None,
    ) -> None: ...
    def _prepare(self) -> None: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    def _flat(
        self, call: Call, fixed: dict[int, Any], named: dict[str, Any]
    ) -> Callable[..., Flat]: ...
    def _make(
        self, signature: Signature, fixed: dict[int, Any], named: dict[str, Any]
    ) -> Callable[..., Flat]: ...

@overload
def remat(
    f: Callable[P, R],
    *,
    prevent_cse: bool = True,
    static_argnums: int | tuple[int, ...] = (),
    policy: Callable[..., bool] | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[P, R]: ...
@overload
def remat(
    *,
    prevent_cse: bool = True,
    static_argnums: int | tuple[int, ...] = (),
    policy: Callable[..., bool] | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
