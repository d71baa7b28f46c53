"""`make_jaxpr`: the program of a function as jax writes it down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import jax
from jax.experimental import checkify as jax_checkify

from typed_nnx._core.jax_runtime import hides_frames
from typed_nnx._core.settings import MISSING, Missing, typed_as
from typed_nnx._transforms.engine.argnums import Statics, resolve
from typed_nnx._transforms.engine.explain import names_of, shown
from typed_nnx._transforms.engine.lift import Lifted, P, R, as_arrays
from typed_nnx._transforms.engine.prefixes import Function, Tree

if TYPE_CHECKING:
    from jax.extend.core import ClosedJaxpr  # which imports Pallas

    from typed_nnx._transforms import shape_overloads as overloads


Errors: TypeAlias = frozenset[type[Any]]
"""Kinds of errors, such as ``jax.experimental.checkify.float_checks``."""


class Checked(Lifted[P, R]):
    """A function that returns the errors that it found; what `checkify` returns."""

    transform = "checkify"
    _options: Errors

    @hides_frames
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function; return the error and the result."""
        lift = self._lift
        call = lift.gather(args, kwargs)
        checked = jax_checkify.checkify(lift.flat(call.signature), errors=self._options)
        error, found = checked(call.args, call.kwargs, call.captured)
        return error, lift.finish(call, as_arrays(found))  # type: ignore[return-value]  # R is this pair


@hides_frames
def checkify(
    f: Callable[P, R],
    errors: Errors = jax_checkify.user_checks,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Checked[P, tuple[jax_checkify.Error, R]]:
    """Make the checks inside a function part of its result, as `jax.experimental.checkify` does.

    Modules are updated whether or not a check fails.

    >>> import jax.numpy as jnp
    >>> from jax.experimental.checkify import check
    >>> def half(variable):
    ...     check(variable[...] > 0, "not positive")
    ...     variable[...] = variable[...] / 2
    >>> error, _ = checkify(half)(Param(jnp.array(-1.0)))
    >>> error.get().splitlines()[0]
    'not positive (`check` failed)'

    Args:
        f: The function.
        errors: What to look for: by default only the checks that are written in the function.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Returns:
        A function of the same arguments that returns an error, which may be empty, and the result.
    """
    checked: Checked[P, tuple[jax_checkify.Error, R]] = Checked.of(f, graph, graph_updates, errors)
    return checked


class Traceable(Lifted[P, "ClosedJaxpr"]):
    """A function that returns its program; what `make_jaxpr` returns."""

    transform = "make_jaxpr"

    def _check_options(self) -> None:
        self._statics = resolve("static", self._lift.function, self._options, None)

    @typed_as(lambda: overloads.__call__)
    @hides_frames
    def __call__(self: Traceable[P], *args: P.args, **kwargs: P.kwargs) -> ClosedJaxpr:
        """Trace the function; nothing is computed and nothing changes."""
        lift = self._lift
        positions, names = self._statics
        numbers = [number % len(args) for number in positions if number < len(args)]
        statics = Statics.of(numbers, names, args, kwargs)
        call = lift.gather(args, kwargs, statics=statics)

        def flat(*dynamic: Tree, **keywords: Tree) -> Tree:
            every, named = statics.within(dynamic, keywords)
            return lift.run(call.signature, every, named, call.captured).result

        def named_inputs(*dynamic: Tree) -> Tree:
            every, _ = statics.within(dynamic, {})
            found, _, _ = names_of(lift.parameters, call.signature, every, {}, call.captured)
            return statics.without(found, {})[0]

        pure, keywords = statics.without(call.args, call.kwargs)
        return jax.make_jaxpr(shown(flat, lift.function, named_inputs))(*pure, **keywords)


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
@hides_frames
def make_jaxpr(
    f: Function | Missing = MISSING,
    *,
    static_argnums: int | Sequence[int] = (),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Tree:
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
        f: The function. Without it a decorator is returned.
        static_argnums: Positions of arguments that are passed as they are.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Returns:
        A function of the same arguments that returns a `ClosedJaxpr`.
    """
    return Traceable.of(f, graph, graph_updates, static_argnums)
