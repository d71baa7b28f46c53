"""`jit_partial` and `cached_partial`: jitted functions whose first arguments are bound."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Self, TypeVar

from typed_nnx._core.jax_runtime import hides_frames
from typed_nnx._core.settings import typed_as
from typed_nnx._graph.mode import check_tree, resolve_modes
from typed_nnx._transforms.engine.argnums import ArgNames, ArgNums
from typed_nnx._transforms.engine.call import (
    place_name,
)
from typed_nnx._transforms.engine.closures import describe, unwrapped_function
from typed_nnx._transforms.engine.explain import NO_PREFIX, changes_of
from typed_nnx._transforms.engine.lift import Lift, Modes
from typed_nnx._transforms.engine.prefixes import Function, Prefix, Tree
from typed_nnx._transforms.engine.signature import Part, Signature, TraceResult
from typed_nnx._transforms.jit import Device, JitWrapped, jit
from typed_nnx._transforms.jit_stages import HasStages, Traced
from typed_nnx.errors import ArgumentError, StructureChangedError

if TYPE_CHECKING:
    from typed_nnx._transforms import partial_overloads as overloads


class FixedLift(Lift):
    """A user's function that may not change the structure of its first arguments.

    Args:
        name: The name of the transform, for errors.
        function: The user's function.
        modes: Whether trees are asserted, and whether other structures may change.
        count: The number of arguments.
    """

    __slots__ = ("_count",)

    def __init__(self, name: str, function: Function, modes: Modes, count: int) -> None:
        super().__init__(name, function, *modes)
        self._count = count

    def of(self, function: Function) -> FixedLift:
        """Return the same for another function."""
        return FixedLift(self.name, function, self.modes, self._count)

    def run(
        self,
        signature: Signature,
        args: Sequence[Tree],
        kwargs: Mapping[str, Tree],
        captured: Sequence[Tree],
        out_prefix: Prefix = NO_PREFIX,
    ) -> TraceResult:
        """Run the user's function.

        Raises:
            StructureChangedError: It changed the structure of one of the first arguments.
        """
        flat = super().run(signature, args, kwargs, captured, out_prefix)
        if flat.effects.structures:
            for part, new in zip(signature.parts, flat.effects.structures, strict=True):
                if new is not None and part in self._fixed(signature):
                    changes = changes_of(part.graphdef, new.graphdef, place_name(part.path))
                    raise StructureChangedError(self.title, changes, _FIX)
        return flat

    def _fixed(self, signature: Signature) -> list[Part]:
        return [
            part
            for argument in signature.arguments[: self._count]
            if argument is not None
            for part in argument.parts
            if isinstance(part, Part)
        ]


_FIX = "change the structure outside, or pass the object to the function that nnx.jit returned"


P = ParamSpec("P")
R = TypeVar("R")


class Bound(functools.partial[R], HasStages[P, R], Generic[P, R]):
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

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
            """Call the function with the bound arguments and these."""
            ...

    # -- what it is made of -----------------------------------------------------------------------

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

    # -- stages -----------------------------------------------------------------------------------

    def _traced(self, args: tuple[Tree, ...], kwargs: Mapping[str, Tree]) -> Traced[R]:
        """Trace the function; what is compiled of it takes the arguments that are not bound."""
        jitted: Any = self.func
        traced: Traced[R] = jitted.trace(*self.args, *args, **kwargs)
        bound = [value for n, value in enumerate(self.args) if n not in jitted._statics]
        return traced.with_bound(tuple(bound))

    def _shapes(self, args: tuple[Tree, ...], kwargs: Mapping[str, Tree]) -> R:
        found: R = self.jitted_fn.eval_shape(*self.args, *args, **kwargs)
        return found

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
    """Compile a function and bind its first arguments, which saves taking them apart at each call.

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
    """Bind the first arguments of a jitted function, which saves taking them apart at each call.

    The function must leave the structure of what is bound as it is.

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
    key = (len(args), modes)
    known = jitted._fixed.get(key)
    if known is None:
        lift = FixedLift("cached_partial", jitted._lift.function, modes, len(args))
        known = jitted._fixed[key] = jitted.with_lift(lift)
    return CachedPartial(known, *args)
