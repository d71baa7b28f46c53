"""`jit_partial` and `cached_partial`: jitted functions whose first arguments are bound."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Generic, ParamSpec, Self, TypeVar

from typed_nnx._core.tracebacks import hide_frames, hides_frames
from typed_nnx._graph import verify
from typed_nnx._graph.duplicates import check_tree
from typed_nnx._graph.mode import resolve_modes
from typed_nnx._transforms import jit_dispatch
from typed_nnx._transforms.argnums import ArgNames, ArgNums
from typed_nnx._transforms.callables import describe, unwrapped_function
from typed_nnx._transforms.fixed_structure import FixedLift
from typed_nnx._transforms.jit import Device, JitWrapped, jit
from typed_nnx._transforms.jit_stages import HasStages, Traced
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.partial_plan import Plan
from typed_nnx._transforms.places import place_name
from typed_nnx._transforms.write_back import write_back
from typed_nnx.errors import NotJittedError

P = ParamSpec("P")
R = TypeVar("R")


class Bound(functools.partial[R], HasStages[P, R], Generic[P, R]):
    """A jitted function whose first arguments are bound, and taken apart once.

    Values that they hold are read at each call; when their structure changes outside they are taken
    apart again.
    """

    #: The name of the transform.
    transform = "partial"

    # Those of the function.
    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., R]

    _plan: Plan | None

    def __new__(cls, jitted: JitWrapped[..., R], /, *args: Any) -> Self:
        """Bind arguments."""
        made = super().__new__(cls, jitted, *args)
        functools.update_wrapper(made, unwrapped_function(jitted), updated=())
        made.__wrapped__ = jitted.nnx_function()  # for `inspect`
        made._plan = None
        return made

    # -- calls ------------------------------------------------------------------------------------

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function with the bound arguments and these."""
        try:
            plan = self._plan
            if plan is None or kwargs or verify.enabled:
                return self._general(args, kwargs)
            signature = plan.signatures.get(len(args))
            values = plan.current()
            jitted: Any = self.func
            if (
                signature is None
                or values is None
                or not jit_dispatch.are_plain(args, plan.statics)
            ):
                return self._general(args, kwargs)
            if plan.may_capture and jitted._lift.captures().objects:
                return self._general(args, kwargs)
            try:
                updates, result, static = jitted._jitted(signature, (), *values, *args)
            except (TypeError, ValueError, RuntimeError) as error:
                jitted._explain(error, (*self.args, *args), {})
                raise
            if plan.write(static.value, updates):
                return result  # type: ignore[no-any-return]  # what the function returned
            places = plan.places(self.args, values, signature)
            return write_back(signature.parts, places, Flat(updates, result, static))  # type: ignore[no-any-return]  # the same
        except Exception as error:
            hide_frames(error)
            raise

    def _general(self, args: Any, kwargs: Any) -> R:
        """Call the function in the general way, and take the bound arguments apart for later."""
        jitted: Any = self.func
        complete = (*self.args, *args)
        result: R = jitted(*complete, **kwargs)
        if jitted._options.has_shardings or kwargs or verify.enabled:
            return result
        if self._plan is None or self._plan.current() is None:
            self._plan = Plan.of(jitted, self.args)
        plan = self._plan
        if plan is not None and jit_dispatch.are_plain(args, plan.statics):
            signature = jitted._intern(jitted._gather(complete, {}))
            # Else the quick way may be taken when nothing is captured any more.
            if not signature.captured and plan.fits(signature):
                plan.signatures[len(args)] = signature
        return result

    # -- what it is made of -----------------------------------------------------------------------

    @property
    def jitted_fn(self) -> JitWrapped[..., R]:
        """The jitted function, which takes all arguments."""
        jitted: Any = self.func
        return jitted  # type: ignore[no-any-return]  # made with one

    @property
    def fun(self) -> Callable[..., R]:
        """The user's function."""
        jitted: Any = self.func
        function: Callable[..., R] = jitted.nnx_function()
        return function

    @property
    def partial_args(self) -> tuple[Any, ...]:
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

    def _traced(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Traced[R]:
        """Trace the function; what is compiled of it takes the arguments that are not bound."""
        jitted: Any = self.func
        traced: Traced[R] = jitted.trace(*self.args, *args, **kwargs)
        bound = [value for n, value in enumerate(self.args) if n not in jitted._statics]
        return traced.with_bound(tuple(bound))

    def _shapes(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> R:
        found: R = self.jitted_fn.eval_shape(*self.args, *args, **kwargs)
        return found

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<nnx.{self.transform} of {describe(self.jitted_fn)}>"


class JitPartial(Bound[P, R]):
    """What `jit_partial` returns."""

    transform = "jit_partial"


class CachedPartial(Bound[P, R]):
    """What `cached_partial` returns."""

    transform = "cached_partial"


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
        NotJittedError: `f` was not made by `jit`.
        StructureChangedError: At a call, the function changed the structure of a bound argument.

    Returns:
        A function of the remaining arguments.
    """
    args = cached_args
    jitted: Any = f
    if isinstance(f, Bound):
        jitted, args = f.func, (*f.args, *args)
    if not isinstance(jitted, JitWrapped):
        raise NotJittedError("cached_partial", describe(jitted))
    modes = jitted._lift.modes
    if graph is not None or graph_updates is not None:
        modes = resolve_modes(graph, graph_updates)
    key = (len(args), modes)
    known = jitted._fixed.get(key)
    if known is None:
        lift = FixedLift("cached_partial", jitted._lift.function, modes, len(args))
        known = jitted._fixed[key] = jitted.with_lift(lift)
    return CachedPartial(known, *args)
