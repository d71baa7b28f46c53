"""`remat`: functions whose intermediate values are computed again for the gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, overload

import jax

from typed_nnx._core.cells import content_key
from typed_nnx._core.jax_runtime import hides_frames
from typed_nnx._core.settings import MISSING, Missing
from typed_nnx._transforms.engine.argnums import Statics, positive, resolve
from typed_nnx._transforms.engine.call import holds_objects
from typed_nnx._transforms.engine.explain import names_of, shown
from typed_nnx._transforms.engine.lift import Lifted, P, R, as_arrays
from typed_nnx._transforms.engine.prefixes import Function, Tree
from typed_nnx._transforms.engine.signature import TraceResult
from typed_nnx._transforms.engine.trace_cache import CachedTrace, StartTrace


class RematOptions(NamedTuple):
    """The options of `remat`."""

    prevent_cse: bool
    policy: Callable[..., bool] | None
    static_argnums: int | tuple[int, ...]


class Rematerialised(Lifted[P, R]):
    """A function whose intermediate values are computed again; what `remat` returns."""

    transform = "remat"
    _options: RematOptions

    def _check_options(self) -> None:
        self._statics = resolve("static", self._lift.function, self._options.static_argnums, None)

    @hides_frames
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        options, lift = self._options, self._lift
        positions, names = self._statics
        numbers = {
            positive("remat: static_argnums", lift.function, number, len(args))
            if number < 0
            else number
            for number in positions
        }
        statics = Statics.of(numbers, names, args, kwargs)
        call = lift.gather(args, kwargs, statics=statics)
        dynamic, keywords = statics.without(call.args, call.kwargs)
        parameters, signature = lift.parameters, call.signature

        def make(start: StartTrace) -> Callable[..., TraceResult]:
            def flat(dynamic: Tree, keywords: Tree, captured: Tree) -> TraceResult:
                trace = start(signature, *statics.within(dynamic, keywords), captured)
                return trace.finish(trace.run())

            def named_inputs(dynamic: Tree, keywords: Tree, captured: Tree) -> Tree:
                every = statics.within(dynamic, keywords)
                args, kwargs, closed = names_of(parameters, signature, *every, captured)
                return *statics.without(args, kwargs), closed

            return jax.checkpoint(
                shown(flat, lift.function, named_inputs),
                prevent_cse=options.prevent_cse,
                policy=options.policy,
            )

        key = None
        if not holds_objects(statics):  # their values are those of this call
            fixed = tuple(statics.args.items()), tuple(sorted(statics.kwargs.items()))
            key = options, content_key(fixed)
        with CachedTrace(lift, signature, key, make) as run:
            flat = run(dynamic, keywords, call.captured)
        result: R = lift.finish(call, as_arrays(flat))
        return result


# As it is: from a function with an `Any`, pyright would not get its parameters out of a ``Callable``
# that is given to `grad` at once.
F = TypeVar("F", bound=Callable[..., Any])


@overload
def remat(
    f: F,
    *,
    prevent_cse: bool = True,
    static_argnums: int | tuple[int, ...] = (),
    policy: Callable[..., bool] | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> F: ...
@overload
def remat(
    *,
    prevent_cse: bool = True,
    static_argnums: int | tuple[int, ...] = (),
    policy: Callable[..., bool] | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[F], F]: ...
@hides_frames
def remat(
    f: Function | Missing = MISSING,
    *,
    prevent_cse: bool = True,
    static_argnums: int | tuple[int, ...] = (),
    policy: Callable[..., bool] | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Tree:
    """Recompute a function's intermediate values for its gradient, as `jax.checkpoint` does.

    That saves memory and costs time. Values and updates are those of the function itself.

    >>> import jax.numpy as jnp
    >>> @remat
    ... def wave(weight, x):
    ...     return jnp.sin(weight * x)
    >>> float(wave(Param(0.0), 1.0))
    0.0

    Args:
        f: The function. Without it a decorator is returned.
        prevent_cse: Keep XLA from merging the recomputed values with the first ones. Not needed,
            and slower, under `scan`.
        static_argnums: Positions of arguments that are passed as they are; ``self`` counts.
        policy: Which values are stored anyway, one of `jax.checkpoint_policies`.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        ArgumentError: There is no argument with a number of static_argnums.
    """
    options = RematOptions(prevent_cse, policy, static_argnums)
    return Rematerialised.of(f, graph, graph_updates, options)
