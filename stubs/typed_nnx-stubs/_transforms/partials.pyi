# Generated from the source of typed_nnx._transforms.partials by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

import functools
import inspect
from collections.abc import Callable
from collections.abc import Mapping
from typed_nnx._transforms.argnums import ArgNames
from typed_nnx._transforms.argnums import ArgNums
from typed_nnx._transforms.jit import Device
from typed_nnx._transforms.jit import JitWrapped
from typed_nnx._transforms.jit_stages import HasStages
from typed_nnx._transforms.jit_stages import Traced
from typed_nnx._transforms.partial_plan import Plan
from typing import Any
from typing import Concatenate
from typing import Generic
from typing import ParamSpec
from typing import Self
from typing import TypeVar
from typing import overload

_A1 = TypeVar("_A1")
_A2 = TypeVar("_A2")
_A3 = TypeVar("_A3")
_A4 = TypeVar("_A4")
_A5 = TypeVar("_A5")
_A6 = TypeVar("_A6")

P = ParamSpec("P")
R = TypeVar("R")

class Bound(functools.partial[R], HasStages[P, R], Generic[P, R]):
    transform = "partial"
    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., R]
    _plan: Plan | None
    def __new__(cls, jitted: JitWrapped[..., R], /, *args: Any) -> Self: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    def _general(self, args: Any, kwargs: Any) -> R: ...
    @property
    def jitted_fn(self) -> JitWrapped[..., R]: ...
    @property
    def fun(self) -> Callable[..., R]: ...
    @property
    def partial_args(self) -> tuple[Any, ...]: ...
    @property
    def graph(self) -> bool: ...
    @property
    def __signature__(self) -> inspect.Signature: ...
    def _traced(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Traced[R]: ...
    def _shapes(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> R: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any: ...
    def __repr__(self) -> str: ...

class JitPartial(Bound[P, R]):
    transform = "jit_partial"

class CachedPartial(Bound[P, R]):
    transform = "cached_partial"

@overload
def jit_partial(
    fun: Callable[P, R],
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: ArgNums = None,
    static_argnames: ArgNames = None,
    donate_argnums: ArgNums = None,
    donate_argnames: ArgNames = None,
    keep_unused: bool = False,
    device: Device | None = None,
    backend: str | None = None,
    inline: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> JitPartial[P, R]: ...
@overload
def jit_partial(
    fun: Callable[Concatenate[_A1, P], R],
    _1: _A1,
    /,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: ArgNums = None,
    static_argnames: ArgNames = None,
    donate_argnums: ArgNums = None,
    donate_argnames: ArgNames = None,
    keep_unused: bool = False,
    device: Device | None = None,
    backend: str | None = None,
    inline: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> JitPartial[P, R]: ...
@overload
def jit_partial(
    fun: Callable[Concatenate[_A1, _A2, P], R],
    _1: _A1,
    _2: _A2,
    /,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: ArgNums = None,
    static_argnames: ArgNames = None,
    donate_argnums: ArgNums = None,
    donate_argnames: ArgNames = None,
    keep_unused: bool = False,
    device: Device | None = None,
    backend: str | None = None,
    inline: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> JitPartial[P, R]: ...
@overload
def jit_partial(
    fun: Callable[Concatenate[_A1, _A2, _A3, P], R],
    _1: _A1,
    _2: _A2,
    _3: _A3,
    /,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: ArgNums = None,
    static_argnames: ArgNames = None,
    donate_argnums: ArgNums = None,
    donate_argnames: ArgNames = None,
    keep_unused: bool = False,
    device: Device | None = None,
    backend: str | None = None,
    inline: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> JitPartial[P, R]: ...
@overload
def jit_partial(
    fun: Callable[Concatenate[_A1, _A2, _A3, _A4, P], R],
    _1: _A1,
    _2: _A2,
    _3: _A3,
    _4: _A4,
    /,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: ArgNums = None,
    static_argnames: ArgNames = None,
    donate_argnums: ArgNums = None,
    donate_argnames: ArgNames = None,
    keep_unused: bool = False,
    device: Device | None = None,
    backend: str | None = None,
    inline: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> JitPartial[P, R]: ...
@overload
def jit_partial(
    fun: Callable[Concatenate[_A1, _A2, _A3, _A4, _A5, P], R],
    _1: _A1,
    _2: _A2,
    _3: _A3,
    _4: _A4,
    _5: _A5,
    /,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: ArgNums = None,
    static_argnames: ArgNames = None,
    donate_argnums: ArgNums = None,
    donate_argnames: ArgNames = None,
    keep_unused: bool = False,
    device: Device | None = None,
    backend: str | None = None,
    inline: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> JitPartial[P, R]: ...
@overload
def jit_partial(
    fun: Callable[Concatenate[_A1, _A2, _A3, _A4, _A5, _A6, P], R],
    _1: _A1,
    _2: _A2,
    _3: _A3,
    _4: _A4,
    _5: _A5,
    _6: _A6,
    /,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: ArgNums = None,
    static_argnames: ArgNames = None,
    donate_argnums: ArgNums = None,
    donate_argnames: ArgNames = None,
    keep_unused: bool = False,
    device: Device | None = None,
    backend: str | None = None,
    inline: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> JitPartial[P, R]: ...
@overload
def jit_partial(
    fun: Callable[..., R],
    _1: Any,
    _2: Any,
    _3: Any,
    _4: Any,
    _5: Any,
    _6: Any,
    _7: Any,
    /,
    *more: Any,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: ArgNums = None,
    static_argnames: ArgNames = None,
    donate_argnums: ArgNums = None,
    donate_argnames: ArgNames = None,
    keep_unused: bool = False,
    device: Device | None = None,
    backend: str | None = None,
    inline: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> JitPartial[..., R]: ...

@overload
def cached_partial(
    f: JitWrapped[P, R] | Bound[P, R],
    *,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> CachedPartial[P, R]: ...
@overload
def cached_partial(
    f: JitWrapped[Concatenate[_A1, P], R] | Bound[Concatenate[_A1, P], R],
    _1: _A1,
    /,
    *,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> CachedPartial[P, R]: ...
@overload
def cached_partial(
    f: JitWrapped[Concatenate[_A1, _A2, P], R] | Bound[Concatenate[_A1, _A2, P], R],
    _1: _A1,
    _2: _A2,
    /,
    *,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> CachedPartial[P, R]: ...
@overload
def cached_partial(
    f: JitWrapped[Concatenate[_A1, _A2, _A3, P], R] | Bound[Concatenate[_A1, _A2, _A3, P], R],
    _1: _A1,
    _2: _A2,
    _3: _A3,
    /,
    *,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> CachedPartial[P, R]: ...
@overload
def cached_partial(
    f: JitWrapped[Concatenate[_A1, _A2, _A3, _A4, P], R] | Bound[Concatenate[_A1, _A2, _A3, _A4, P], R],
    _1: _A1,
    _2: _A2,
    _3: _A3,
    _4: _A4,
    /,
    *,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> CachedPartial[P, R]: ...
@overload
def cached_partial(
    f: JitWrapped[Concatenate[_A1, _A2, _A3, _A4, _A5, P], R] | Bound[Concatenate[_A1, _A2, _A3, _A4, _A5, P], R],
    _1: _A1,
    _2: _A2,
    _3: _A3,
    _4: _A4,
    _5: _A5,
    /,
    *,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> CachedPartial[P, R]: ...
@overload
def cached_partial(
    f: JitWrapped[Concatenate[_A1, _A2, _A3, _A4, _A5, _A6, P], R] | Bound[Concatenate[_A1, _A2, _A3, _A4, _A5, _A6, P], R],
    _1: _A1,
    _2: _A2,
    _3: _A3,
    _4: _A4,
    _5: _A5,
    _6: _A6,
    /,
    *,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> CachedPartial[P, R]: ...
@overload
def cached_partial(
    f: JitWrapped[..., R] | Bound[..., R],
    _1: Any,
    _2: Any,
    _3: Any,
    _4: Any,
    _5: Any,
    _6: Any,
    _7: Any,
    /,
    *more: Any,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> CachedPartial[..., R]: ...
