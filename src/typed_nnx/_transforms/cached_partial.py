"""`jit_partial` and `cached_partial`: jitted functions whose first arguments are bound."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from typed_nnx._core.jax_runtime import hides_frames
from typed_nnx._core.settings import typed_as
from typed_nnx._graph.mode import check_tree, resolve_modes
from typed_nnx._transforms.engine.argnums import ArgNames, ArgNums
from typed_nnx._transforms.engine.call import place_name
from typed_nnx._transforms.engine.closures import describe, unwrapped_function
from typed_nnx._transforms.engine.lift import P, R
from typed_nnx._transforms.engine.prefixes import Tree
from typed_nnx._transforms.jit import Device, JitWrapped, jit
from typed_nnx._transforms.jit_stages import JitMethod
from typed_nnx.errors import ArgumentError

if TYPE_CHECKING:
    from typed_nnx._transforms import partial_overloads as overloads


class Bound(JitMethod[P, R]):
    """A jitted function whose first arguments are bound.

    Values that they hold are read at each call, as those of all arguments.
    """

    #: The name of the transform.
    transform = "partial"

    # Those of the function.
    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., R]

    def __new__(cls, jitted: JitWrapped[..., R], /, *args: Tree) -> Self:
        """Bind arguments."""
        made = super().__new__(cls, jitted, *args)
        functools.update_wrapper(made, unwrapped_function(jitted), updated=())
        made.__wrapped__ = jitted.nnx_function()  # for `inspect`
        return made

    @property
    def jitted_fn(self) -> JitWrapped[..., R]:
        """The jitted function, which takes all arguments."""
        jitted: JitWrapped[..., R] = self.func  # type: ignore[assignment]  # made with one
        return jitted

    @property
    def fun(self) -> Callable[..., R]:
        """The user's function."""
        jitted: Any = self.func
        function: Callable[..., R] = jitted.nnx_function()
        return function

    @property
    def partial_args(self) -> tuple[Tree, ...]:
        """The bound arguments."""
        return self.args

    @property
    def graph(self) -> bool:
        """Whether arguments may be graphs."""
        jitted: Any = self.func
        return bool(jitted._lift.modes[0])

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(functools.partial(self.fun, *self.args))

    def __get__(self, instance: Tree, owner: object = None) -> Callable[..., R]:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<nnx.{self.transform} of {describe(self.jitted_fn)}>"


class JitPartial(Bound[P, R]):
    """What `jit_partial` returns."""

    transform = "jit_partial"


class CachedPartial(Bound[P, R]):
    """What `cached_partial` returns."""

    transform = "cached_partial"


@typed_as(lambda: overloads.jit_partial)
@hides_frames
def jit_partial(
    fun: Callable[..., R],
    *partial_args: Any,
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
) -> JitPartial[..., R]:
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
    jitted: Any = jit(
        fun,
        in_shardings=in_shardings,
        out_shardings=out_shardings,
        static_argnums=static_argnums,
        static_argnames=static_argnames,
        donate_argnums=donate_argnums,
        donate_argnames=donate_argnames,
        keep_unused=keep_unused,
        device=device,
        backend=backend,
        inline=inline,
        graph=graph,
        graph_updates=graph_updates,
    )
    lift = jitted._lift
    if not lift.modes[0]:
        names = lift.parameters
        bound = {names[n]: value for n, value in enumerate(partial_args)}
        check_tree(lift.title, bound, place_name)
    return JitPartial(jitted, *partial_args)


@typed_as(lambda: overloads.cached_partial)
@hides_frames
def cached_partial(
    f: JitWrapped[..., R] | Bound[..., R],
    *cached_args: Any,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> CachedPartial[..., R]:
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
    args = cached_args
    jitted: Any = f
    if isinstance(f, Bound):
        jitted, args = f.func, (*f.args, *args)
    if not isinstance(jitted, JitWrapped):
        raise ArgumentError(
            "cached_partial",
            f"expected a function made by nnx.jit, got {describe(jitted)}.",
            "nnx.cached_partial(nnx.jit(function), ...)",
        )
    modes = jitted._lift.modes
    if graph is not None or graph_updates is not None:
        modes = resolve_modes(graph, graph_updates)
    return CachedPartial(jitted.with_fixed(len(args), modes), *args)
