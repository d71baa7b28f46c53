"""`remat`: functions whose intermediate values are computed again for the gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, ParamSpec, TypeVar, overload

import jax

from typed_nnx._core.static_keys import content_key
from typed_nnx._core.tracebacks import hides_frames
from typed_nnx._core.unset import UNSET
from typed_nnx._transforms.argnums import positive, resolve, with_statics, without_statics
from typed_nnx._transforms.gather import Call, holds_objects
from typed_nnx._transforms.interned import Kept
from typed_nnx._transforms.lifted import Lifted
from typed_nnx._transforms.literals import as_arrays
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.shown import names_of, shown
from typed_nnx._transforms.signature import Signature

P = ParamSpec("P")
R = TypeVar("R")


class RematOptions(NamedTuple):
    """The options of `remat`, with static arguments by position and by name."""

    prevent_cse: bool = True
    policy: Callable[..., bool] | None = None
    static_argnums: tuple[int, ...] = ()
    static_argnames: tuple[str, ...] = ()


class Rematerialised(Lifted[P, R]):
    """A function whose intermediate values are computed again; what `remat` returns."""

    transform = "remat"

    def __init__(
        self,
        function: Callable[P, R],
        options: RematOptions,
        graph: bool | None,
        graph_updates: bool | None,
    ) -> None:
        super().__init__(function, graph, graph_updates)
        self._options = options
        self._prepare()

    def _prepare(self) -> None:
        self._made: Kept[Callable[..., Flat]] = Kept(self._lift)

    @hides_frames
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        options, lift = self._options, self._lift
        statics = {
            positive("remat: static_argnums", lift.function, number, len(args))
            if number < 0
            else number
            for number in options.static_argnums
        }
        call = lift.gather(args, kwargs, statics=statics, static_names=options.static_argnames)
        fixed = {n: value for n, value in enumerate(args) if n in statics}
        named = {name: kwargs[name] for name in options.static_argnames if name in kwargs}
        dynamic = without_statics(statics, call.args)
        keywords = {name: value for name, value in call.kwargs.items() if name not in named}
        flat = self._flat(call, fixed, named)(dynamic, keywords, call.captured)
        self._made.accept_changes()
        return lift.finish(call, as_arrays(flat))  # type: ignore[no-any-return]  # what the function returned

    def _flat(
        self, call: Call, fixed: dict[int, Any], named: dict[str, Any]
    ) -> Callable[..., Flat]:
        """Return the function for one kind of call; the same one for the same kind."""

        def make(signature: Signature) -> Callable[..., Flat]:
            return self._make(signature, fixed, named)

        if holds_objects((fixed, named)):  # their values are those of this call
            return make(call.signature)
        statics = tuple(fixed.items()), tuple(sorted(named.items()))
        return self._made.of(call.signature, content_key(statics), make)

    def _make(
        self, signature: Signature, fixed: dict[int, Any], named: dict[str, Any]
    ) -> Callable[..., Flat]:
        lift, options = self._lift, self._options

        def flat(dynamic: Any, keywords: Any, captured: Any) -> Flat:
            args = with_statics(fixed, dynamic)
            return lift.run(signature, args, {**keywords, **named}, captured)

        def names(dynamic: Any, keywords: Any, captured: Any) -> Any:
            args = with_statics(dict.fromkeys(fixed), dynamic)
            found = names_of(lift.parameters, signature, args, keywords, captured)
            return without_statics(fixed, found[0]), *found[1:]

        return jax.checkpoint(
            shown(flat, lift.function, names),
            prevent_cse=options.prevent_cse,
            policy=options.policy,
        )


@overload
def remat(
    f: Callable[P, R],
    *,
    prevent_cse: bool = ...,
    static_argnums: int | tuple[int, ...] = ...,
    policy: Callable[..., bool] | None = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[P, R]: ...
@overload
def remat(
    *,
    prevent_cse: bool = ...,
    static_argnums: int | tuple[int, ...] = ...,
    policy: Callable[..., bool] | None = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@hides_frames
def remat(
    f: Any = UNSET,
    *,
    prevent_cse: bool = True,
    static_argnums: int | tuple[int, ...] = (),
    policy: Callable[..., bool] | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Compute a function's intermediate values again for its gradient, as `jax.checkpoint` does.

    That saves memory and costs time. Values and updates are those of the function itself.

    >>> import jax.numpy as jnp
    >>> @remat
    ... def wave(weight, x):
    ...     return jnp.sin(weight * x)
    >>> float(wave(Param(0.0), 1.0))
    0.0

    Args:
        f: Any callable. Without it a decorator is returned.
        prevent_cse: Keep XLA from merging what is computed again with what was computed before.
            Not needed, and slower, inside `scan`.
        static_argnums: Positions of arguments that are passed as they are; ``self`` counts.
        policy: Which values are kept all the same, one of `jax.checkpoint_policies`.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        ArgumentOutOfRangeError: There is no argument with a number of static_argnums.
    """

    def wrap(function: Any) -> Rematerialised[..., Any]:
        statics = resolve("static", function, static_argnums, None)
        options = RematOptions(prevent_cse, policy, *statics)
        return Rematerialised(function, options, graph, graph_updates)

    return wrap if f is UNSET else wrap(f)
