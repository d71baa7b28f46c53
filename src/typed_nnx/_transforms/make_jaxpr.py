"""`make_jaxpr`: the program of a function as jax writes it down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, overload

import jax
from jax.extend.core import ClosedJaxpr

from typed_nnx._core.tracebacks import hides_frames
from typed_nnx._core.unset import UNSET
from typed_nnx._transforms.argnums import resolve, with_statics, without_statics
from typed_nnx._transforms.lifted import Lifted
from typed_nnx._transforms.shown import names_of, shown

P = ParamSpec("P")


class Traceable(Lifted[P, ClosedJaxpr]):
    """A function that returns its program; what `make_jaxpr` returns."""

    transform = "make_jaxpr"

    def __init__(
        self,
        function: Callable[P, Any],
        static_argnums: int | Sequence[int],
        graph: bool | None,
        graph_updates: bool | None,
    ) -> None:
        super().__init__(function, graph, graph_updates)
        self._statics = resolve("static", function, static_argnums, None)

    @hides_frames
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> ClosedJaxpr:
        """Trace the function; nothing is computed and nothing changes."""
        lift = self._lift
        numbers, static_names = self._statics
        statics = {number % len(args) for number in numbers if number < len(args)}
        call = lift.gather(args, kwargs, statics=statics, static_names=static_names)
        given = {number: args[number] for number in statics}
        fixed = {name: kwargs[name] for name in static_names if name in kwargs}

        def flat(*dynamic: Any, **keywords: Any) -> Any:
            every = with_statics(given, dynamic)
            return lift.run(call.signature, every, {**keywords, **fixed}, call.captured).result

        def names(*dynamic: Any) -> Any:
            every = with_statics(dict.fromkeys(statics), dynamic)
            found, _, _ = names_of(lift.parameters, call.signature, every, {}, call.captured)
            return tuple(without_statics(statics, found))

        pure = without_statics(statics, call.args)
        keywords = {name: value for name, value in call.kwargs.items() if name not in fixed}
        return jax.make_jaxpr(shown(flat, lift.function, names))(*pure, **keywords)


@overload
def make_jaxpr(
    f: Callable[P, Any],
    *,
    static_argnums: int | Sequence[int] = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Traceable[P]: ...
@overload
def make_jaxpr(
    *,
    static_argnums: int | Sequence[int] = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[[Callable[P, Any]], Traceable[P]]: ...
@hides_frames
def make_jaxpr(
    f: Any = UNSET,
    *,
    static_argnums: int | Sequence[int] = (),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Return a function that returns the jaxpr of `f`, as `jax.make_jaxpr` does for arrays.

    The inputs are the values of the arguments in the order of `state`, the outputs those of the
    result. What the function changes is no output, and stays as it is.

    >>> import jax.numpy as jnp
    >>> make_jaxpr(lambda weight, x: weight * x)(Param(jnp.ones(2)), 3.0)
    { lambda ; a:f32[2] b:f32[]. let
        c:f32[] = convert_element_type[new_dtype=float32 weak_type=False] b
        d:f32[2] = mul a c
      in (d,) }

    Args:
        f: Any callable. Without it a decorator is returned.
        static_argnums: Positions of arguments that are passed as they are.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Returns:
        A function of the same arguments that returns a `ClosedJaxpr`.
    """

    def wrap(function: Any) -> Traceable[...]:
        return Traceable(function, static_argnums, graph, graph_updates)

    return wrap if f is UNSET else wrap(f)
