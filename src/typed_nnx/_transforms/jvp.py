"""`jvp` of functions of Modules, Variables and arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import jax

from typed_nnx._core.tracebacks import hides_frames
from typed_nnx._core.unset import UNSET
from typed_nnx._transforms.differentiated import DifferentiatedCall
from typed_nnx._transforms.lifted import Lifted
from typed_nnx._transforms.tangents import Given
from typed_nnx.errors import TangentStructureError

R = TypeVar("R")


class Jvp(Lifted[[Sequence[Any], Sequence[Any]], R]):
    """A function of primals and tangents that pushes the tangents forward."""

    transform = "jvp"

    def __init__(
        self,
        function: Callable[..., Any],
        has_aux: bool,
        graph: bool | None,
        graph_updates: bool | None,
    ) -> None:
        super().__init__(function, graph, graph_updates)
        self._has_aux = has_aux

    @hides_frames
    def __call__(self, primals: Sequence[Any], tangents: Sequence[Any]) -> R:
        """Call the function and push the tangents forward.

        Args:
            primals: The arguments.
            tangents: A tangent for each: Modules, or States, for Modules.

        Raises:
            TangentStructureError: A tangent has another structure than its primal.
        """
        for name, given in (("primals", primals), ("tangents", tangents)):
            if not isinstance(given, tuple | list):
                found = type(given).__name__
                raise TangentStructureError("jvp", name, "a tuple or list", found)
        if len(primals) != len(tangents):
            expected = f"a tuple of {len(primals)}, one for each primal"
            raise TangentStructureError("jvp", "tangents", expected, f"{len(tangents)}")
        call = DifferentiatedCall(self._lift, primals, self._has_aux)
        given_tangents = Given("jvp")
        values = [
            given_tangents.argument(argument, tangent, f"tangents[{number}]")
            for number, (argument, tangent) in enumerate(zip(call.arguments, tangents, strict=True))
        ]
        out, slope, found = jax.jvp(call.shown, call.values, tuple(values), has_aux=True)
        out, aux = call.finish(out, found)
        slope = call.results(found).as_objects(slope)
        return (out, slope, aux) if self._has_aux else (out, slope)  # type: ignore[return-value]  # as declared by `jvp`


@overload
def jvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: bool = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Any: ...
@overload
def jvp(
    f: Callable[..., Any],
    *,
    has_aux: bool = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Jvp[Any]: ...
@overload
def jvp(
    *,
    has_aux: bool = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[[Callable[..., Any]], Jvp[Any]]: ...
@hides_frames
def jvp(
    f: Any = UNSET,
    primals: Any = UNSET,
    tangents: Any = UNSET,
    *,
    has_aux: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Call a function and push tangents forward, as `jax.jvp` does for arrays.

    The tangent of a Module is a Module of the same structure, with tangents of all Variables.

    >>> import jax.numpy as jnp
    >>> weight, tangent = Param(jnp.array(3.0)), Param(jnp.array(1.0))
    >>> out, slope = jvp(lambda weight: weight**2, (weight,), (tangent,))
    >>> float(out), float(slope)
    (9.0, 6.0)

    Args:
        f: The function. Without it a decorator is returned.
        primals: Its arguments. Without them, a function of primals and tangents is returned.
        tangents: A tangent for each argument.
        has_aux: The function returns ``(result, aux)``.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        TangentStructureError: A tangent has another structure than its primal.
        AuxResultError: With has_aux, the function did not return a pair.
        DifferentiatedInputError: The function returned an object of an argument.

    Returns:
        The result and its tangent, with has_aux also the auxiliary output.
    """

    def wrap(function: Any) -> Jvp[Any]:
        return Jvp(function, has_aux, graph, graph_updates)

    if f is UNSET:
        return wrap
    if primals is UNSET and tangents is UNSET:
        return wrap(f)
    return wrap(f)(primals, tangents)
