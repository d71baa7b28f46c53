"""`vjp` of functions of Modules, Variables and arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, overload

import jax

from typed_nnx._core.tracebacks import hides_frames
from typed_nnx._core.unset import UNSET
from typed_nnx._transforms.differentiable import Tangents
from typed_nnx._transforms.differentiated import DifferentiatedCall
from typed_nnx._transforms.lifted import Lifted
from typed_nnx._transforms.signature import Argument
from typed_nnx._transforms.tangents import Given, Results

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
A_co = TypeVar("A_co", covariant=True)


class Pullback(Generic[R_co, A_co]):
    """Takes a cotangent of the result to cotangents of the arguments; `vjp` returns it.

    A pytree, so that it can leave a `jit`. For type checkers its parameters are the type of the
    result and a tuple of those of the arguments.
    """

    __slots__ = ("_arguments", "_pull", "_results")

    def __init__(
        self, pull: Callable[..., Any], arguments: tuple[Argument | None, ...], results: Results
    ) -> None:
        self._pull = pull
        self._arguments = arguments
        self._results = results

    @hides_frames
    def __call__(self, cotangent: Any, /) -> A_co:
        """Return the cotangents of the arguments.

        Args:
            cotangent: The cotangent of the result: Modules, or States, where the result has Modules.

        Raises:
            TangentStructureError: It has another structure than the result.
        """
        given = Given("vjp").result(self._results, cotangent, "the cotangent of the result")
        as_tangent = Tangents()
        pairs = zip(self._arguments, self._pull(given), strict=True)
        return tuple([as_tangent(argument, own) for argument, own in pairs])  # type: ignore[return-value]  # of the arguments' types

    def __repr__(self) -> str:
        return f"<nnx.vjp: from the result to {len(self._arguments)} arguments>"


jax.tree_util.register_pytree_node(
    Pullback,
    lambda pullback: ((pullback._pull,), (pullback._arguments, pullback._results)),
    lambda static, pull: Pullback(pull[0], *static),
)


class Vjp(Lifted[P, R]):
    """A function that returns its result and the function that pulls cotangents back."""

    transform = "vjp"

    def __init__(
        self,
        function: Callable[P, Any],
        has_aux: bool,
        rest: dict[str, Any],
        graph: bool | None,
        graph_updates: bool | None,
    ) -> None:
        super().__init__(function, graph, graph_updates)
        self._has_aux = has_aux
        self._rest = rest

    @hides_frames
    def __call__(self, *primals: P.args, **kwargs: P.kwargs) -> R:
        """Call the function and make ready to pull cotangents back."""
        if kwargs:
            raise TypeError(
                f"vjp() got an unexpected keyword argument {next(iter(kwargs))!r}.\n"
                "  Fix: give all arguments by position"
            )
        call = DifferentiatedCall(self._lift, primals, self._has_aux)
        out, pull, found = jax.vjp(call.shown, *call.values, has_aux=True, **self._rest)
        out, aux = call.finish(out, found)
        pullback: Pullback[Any, Any] = Pullback(pull, call.arguments, call.results(found))
        return (out, pullback, aux) if self._has_aux else (out, pullback)  # type: ignore[return-value]  # as declared by `vjp`


@overload
def vjp(
    f: Callable[..., Any],
    *primals: Any,
    has_aux: bool = ...,
    reduce_axes: Sequence[Hashable] = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Any: ...
@overload
def vjp(
    *,
    has_aux: bool = ...,
    reduce_axes: Sequence[Hashable] = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[[Callable[P, Any]], Vjp[P, Any]]: ...
@hides_frames
def vjp(
    f: Any = UNSET,
    *primals: Any,
    has_aux: bool = False,
    reduce_axes: Sequence[Hashable] = (),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Call a function and make ready to pull cotangents back, as `jax.vjp` does for arrays.

    The cotangent of a Module is a Module of the same class, with the cotangents of all Variables.
    Changes of Modules are seen outside once, however often cotangents are pulled back.

    >>> import jax.numpy as jnp
    >>> weight = Param(jnp.array(3.0))
    >>> out, pull = vjp(lambda weight: weight**2, weight)
    >>> (by_weight,) = pull(jnp.array(1.0))
    >>> float(out), float(by_weight[...])
    (9.0, 6.0)

    Args:
        f: The function. Without it a decorator is returned.
        *primals: Its arguments. Without any, a function of them is returned.
        has_aux: The function returns ``(result, aux)``.
        reduce_axes: Axes over which cotangents are summed.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        AuxResultError: With has_aux, the function did not return a pair.
        DifferentiatedInputError: The function returned an object of an argument.

    Returns:
        The result and a function from its cotangent to a tuple of those of the arguments, with
        has_aux also the auxiliary output.
    """
    rest: dict[str, Any] = {"reduce_axes": reduce_axes} if reduce_axes else {}

    def wrap(function: Any) -> Vjp[..., Any]:
        return Vjp(function, has_aux, rest, graph, graph_updates)

    if f is UNSET:
        return wrap
    return wrap(f)(*primals) if primals else wrap(f)
