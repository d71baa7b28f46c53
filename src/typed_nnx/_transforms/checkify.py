"""`checkify`: functions that return the errors that their checks found."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ParamSpec, TypeAlias, TypeVar

from jax.experimental import checkify as jax_checkify

from typed_nnx._core.tracebacks import hides_frames
from typed_nnx._transforms.lifted import Lifted
from typed_nnx._transforms.literals import as_arrays
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.shown import names_of, shown

P = ParamSpec("P")
R = TypeVar("R")

Errors: TypeAlias = frozenset[type[Any]]
"""Kinds of errors, such as ``jax.experimental.checkify.float_checks``."""


class Checked(Lifted[P, R]):
    """A function that returns the errors that it found; what `checkify` returns."""

    transform = "checkify"

    def __init__(
        self,
        function: Callable[P, Any],
        errors: Errors,
        graph: bool | None,
        graph_updates: bool | None,
    ) -> None:
        super().__init__(function, graph, graph_updates)
        self._errors = errors

    @hides_frames
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function; return the error and the result."""
        lift = self._lift
        call = lift.gather(args, kwargs)

        def flat(args: Any, kwargs: Any, captured: Any) -> Flat:
            return lift.run(call.signature, args, kwargs, captured)

        names = partial(names_of, lift.parameters, call.signature)
        error, found = jax_checkify.checkify(
            shown(flat, lift.function, names), errors=self._errors
        )(call.args, call.kwargs, call.captured)
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
        f: Any callable.
        errors: What to look for: by default only the checks that are written in the function.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Returns:
        A function of the same arguments that returns an error, which may be empty, and the result.
    """
    return Checked(f, errors, graph, graph_updates)
