# Written by `make stubs`. Do not edit. There is no such module at run time: these are the types
# that checkers give to the functions of the source with `typed_as`.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable
from typed_nnx._transforms.cached_partial import CachedPartial, JitPartial
from typed_nnx._transforms.engine.argnums import ArgNames, ArgNums
from typed_nnx._transforms.jit import Device
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

P = ParamSpec("P")
R = TypeVar("R")
_A1 = TypeVar("_A1")
_A2 = TypeVar("_A2")
_A3 = TypeVar("_A3")
_A4 = TypeVar("_A4")
_A5 = TypeVar("_A5")
_A6 = TypeVar("_A6")
R_co = TypeVar("R_co", covariant=True)

# What `jit` returns, and what is made of it. By its call: some checkers do not compare the parameters
# of a class that has names with those of one that has none.
class _Jitted(Protocol[P, R_co]):
    @property
    def _traced(self, /) -> Any: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

@overload
def jit_partial(fun: Callable[P, R], *, in_shardings: Any = None, out_shardings: Any = None, static_argnums: ArgNums = None, static_argnames: ArgNames = None, donate_argnums: ArgNums = None, donate_argnames: ArgNames = None, keep_unused: bool = False, device: Device | None = None, backend: str | None = None, inline: bool = False, graph: bool | None = None, graph_updates: bool | None = None) -> JitPartial[P, R]:
    """Compile a function and bind its first arguments, so that calls need not flatten them.

    >>> import jax.numpy as jnp
    >>> def scaled(weight, x):
    ...     weight[...] += 1
    ...     return weight[...] * x
    >>> weight = Param(jnp.array(1.0))
    >>> step = jit_partial(scaled, weight)
    >>> float(step(10.0)), float(step(10.0))
    (20.0, 30.0)

    Args:
        fun: Any callable.
        *partial_args: Its first arguments: Modules, Variables, arrays. Positions count them.
        in_shardings: As in `jit`.
        out_shardings: As in `jit`.
        static_argnums: As in `jit`.
        static_argnames: As in `jit`.
        donate_argnums: As in `jit`.
        donate_argnames: As in `jit`.
        keep_unused: As in `jit`.
        device: As in `jit`.
        backend: As in `jit`.
        inline: As in `jit`.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Returns:
        A function of the remaining arguments, with the stages of `jit`.

    Raises:
        SharedReferenceError: ``graph=False``, and an object is reached on two paths.
    """
@overload
def jit_partial(fun: Callable[Concatenate[_A1, P], R], _1: _A1, /, *, in_shardings: Any = None, out_shardings: Any = None, static_argnums: ArgNums = None, static_argnames: ArgNames = None, donate_argnums: ArgNums = None, donate_argnames: ArgNames = None, keep_unused: bool = False, device: Device | None = None, backend: str | None = None, inline: bool = False, graph: bool | None = None, graph_updates: bool | None = None) -> JitPartial[P, R]: """Compile a function and bind its first arguments, so that calls need not flatten them."""
@overload
def jit_partial(fun: Callable[Concatenate[_A1, _A2, P], R], _1: _A1, _2: _A2, /, *, in_shardings: Any = None, out_shardings: Any = None, static_argnums: ArgNums = None, static_argnames: ArgNames = None, donate_argnums: ArgNums = None, donate_argnames: ArgNames = None, keep_unused: bool = False, device: Device | None = None, backend: str | None = None, inline: bool = False, graph: bool | None = None, graph_updates: bool | None = None) -> JitPartial[P, R]: """Compile a function and bind its first arguments, so that calls need not flatten them."""
@overload
def jit_partial(fun: Callable[Concatenate[_A1, _A2, _A3, P], R], _1: _A1, _2: _A2, _3: _A3, /, *, in_shardings: Any = None, out_shardings: Any = None, static_argnums: ArgNums = None, static_argnames: ArgNames = None, donate_argnums: ArgNums = None, donate_argnames: ArgNames = None, keep_unused: bool = False, device: Device | None = None, backend: str | None = None, inline: bool = False, graph: bool | None = None, graph_updates: bool | None = None) -> JitPartial[P, R]: """Compile a function and bind its first arguments, so that calls need not flatten them."""
@overload
def jit_partial(fun: Callable[Concatenate[_A1, _A2, _A3, _A4, P], R], _1: _A1, _2: _A2, _3: _A3, _4: _A4, /, *, in_shardings: Any = None, out_shardings: Any = None, static_argnums: ArgNums = None, static_argnames: ArgNames = None, donate_argnums: ArgNums = None, donate_argnames: ArgNames = None, keep_unused: bool = False, device: Device | None = None, backend: str | None = None, inline: bool = False, graph: bool | None = None, graph_updates: bool | None = None) -> JitPartial[P, R]: """Compile a function and bind its first arguments, so that calls need not flatten them."""
@overload
def jit_partial(fun: Callable[Concatenate[_A1, _A2, _A3, _A4, _A5, P], R], _1: _A1, _2: _A2, _3: _A3, _4: _A4, _5: _A5, /, *, in_shardings: Any = None, out_shardings: Any = None, static_argnums: ArgNums = None, static_argnames: ArgNames = None, donate_argnums: ArgNums = None, donate_argnames: ArgNames = None, keep_unused: bool = False, device: Device | None = None, backend: str | None = None, inline: bool = False, graph: bool | None = None, graph_updates: bool | None = None) -> JitPartial[P, R]: """Compile a function and bind its first arguments, so that calls need not flatten them."""
@overload
def jit_partial(fun: Callable[Concatenate[_A1, _A2, _A3, _A4, _A5, _A6, P], R], _1: _A1, _2: _A2, _3: _A3, _4: _A4, _5: _A5, _6: _A6, /, *, in_shardings: Any = None, out_shardings: Any = None, static_argnums: ArgNums = None, static_argnames: ArgNames = None, donate_argnums: ArgNums = None, donate_argnames: ArgNames = None, keep_unused: bool = False, device: Device | None = None, backend: str | None = None, inline: bool = False, graph: bool | None = None, graph_updates: bool | None = None) -> JitPartial[P, R]: """Compile a function and bind its first arguments, so that calls need not flatten them."""
@overload
def jit_partial(fun: Callable[..., R], _1: Any, _2: Any, _3: Any, _4: Any, _5: Any, _6: Any, _7: Any, /, *more: Any, in_shardings: Any = None, out_shardings: Any = None, static_argnums: ArgNums = None, static_argnames: ArgNames = None, donate_argnums: ArgNums = None, donate_argnames: ArgNames = None, keep_unused: bool = False, device: Device | None = None, backend: str | None = None, inline: bool = False, graph: bool | None = None, graph_updates: bool | None = None) -> JitPartial[..., R]: """Compile a function and bind its first arguments, so that calls need not flatten them."""

@overload
def cached_partial(f: _Jitted[P, R], *, graph: bool | None = None, graph_updates: bool | None = None) -> CachedPartial[P, R]:
    """Bind the first arguments of a jitted function, so that calls need not flatten them.

    The function must not change the structure of the bound arguments.

    >>> import jax.numpy as jnp
    >>> @jit
    ... def scaled(weight, x):
    ...     weight[...] += 1
    ...     return weight[...] * x
    >>> weight = Param(jnp.array(1.0))
    >>> step = cached_partial(scaled, weight)
    >>> float(step(10.0)), float(step(10.0))
    (20.0, 30.0)

    Args:
        f: A function made by `jit`, or one whose first arguments are bound already.
        *cached_args: Its first arguments: Modules, Variables, arrays.
        graph: False asserts that the arguments are trees; by default as for `f`.
        graph_updates: False asserts that structures stay as they are; by default as for `f`.

    Raises:
        ArgumentError: `f` was not made by `jit`.
        StructureChangedError: At a call, the function changed the structure of a bound argument.

    Returns:
        A function of the remaining arguments.
    """
@overload
def cached_partial(f: _Jitted[Concatenate[_A1, P], R], _1: _A1, /, *, graph: bool | None = None, graph_updates: bool | None = None) -> CachedPartial[P, R]: """Bind the first arguments of a jitted function, so that calls need not flatten them."""
@overload
def cached_partial(f: _Jitted[Concatenate[_A1, _A2, P], R], _1: _A1, _2: _A2, /, *, graph: bool | None = None, graph_updates: bool | None = None) -> CachedPartial[P, R]: """Bind the first arguments of a jitted function, so that calls need not flatten them."""
@overload
def cached_partial(f: _Jitted[Concatenate[_A1, _A2, _A3, P], R], _1: _A1, _2: _A2, _3: _A3, /, *, graph: bool | None = None, graph_updates: bool | None = None) -> CachedPartial[P, R]: """Bind the first arguments of a jitted function, so that calls need not flatten them."""
@overload
def cached_partial(f: _Jitted[Concatenate[_A1, _A2, _A3, _A4, P], R], _1: _A1, _2: _A2, _3: _A3, _4: _A4, /, *, graph: bool | None = None, graph_updates: bool | None = None) -> CachedPartial[P, R]: """Bind the first arguments of a jitted function, so that calls need not flatten them."""
@overload
def cached_partial(f: _Jitted[Concatenate[_A1, _A2, _A3, _A4, _A5, P], R], _1: _A1, _2: _A2, _3: _A3, _4: _A4, _5: _A5, /, *, graph: bool | None = None, graph_updates: bool | None = None) -> CachedPartial[P, R]: """Bind the first arguments of a jitted function, so that calls need not flatten them."""
@overload
def cached_partial(f: _Jitted[Concatenate[_A1, _A2, _A3, _A4, _A5, _A6, P], R], _1: _A1, _2: _A2, _3: _A3, _4: _A4, _5: _A5, _6: _A6, /, *, graph: bool | None = None, graph_updates: bool | None = None) -> CachedPartial[P, R]: """Bind the first arguments of a jitted function, so that calls need not flatten them."""
@overload
def cached_partial(f: _Jitted[..., R], _1: Any, _2: Any, _3: Any, _4: Any, _5: Any, _6: Any, _7: Any, /, *more: Any, graph: bool | None = None, graph_updates: bool | None = None) -> CachedPartial[..., R]: """Bind the first arguments of a jitted function, so that calls need not flatten them."""
