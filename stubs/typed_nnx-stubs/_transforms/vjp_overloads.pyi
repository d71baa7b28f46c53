# Written by `make stubs`. Do not edit. There is no such module at run time: these are the types
# that checkers give to the functions of the source with `typed_as`.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable, Hashable, Sequence
from typed_nnx._core.state import State
from typed_nnx._transforms.vjp import Jvp, Pullback, Vjp
from typing import Any, Literal, ParamSpec, TypeVar, Unpack, overload

P = ParamSpec("P")
R = TypeVar("R")
_A0 = TypeVar("_A0")
_A1 = TypeVar("_A1")
_A2 = TypeVar("_A2")
_A3 = TypeVar("_A3")
_X = TypeVar("_X")

@overload
def vjp(f: Callable[[_A0], R], *primals: Unpack[tuple[_A0]], has_aux: Literal[False] = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[_A0]]]:
    """Call a function and return its pullback, as `jax.vjp` does for arrays.

    The cotangent of a Module is a Module of the same class, with the cotangents of all Variables.
    Changes to Modules happen once, however often cotangents are pulled back.

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
        ResultError: With has_aux, the function did not return a pair.
        SharedReferenceError: The function returned an object of an argument.

    Returns:
        The result and a function from its cotangent to a tuple of those of the arguments, with
        has_aux also the auxiliary output.
    """
@overload
def vjp(f: Callable[[_A0, _A1], R], *primals: Unpack[tuple[_A0, _A1]], has_aux: Literal[False] = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[_A0, _A1]]]: """Call a function and return its pullback, as `jax.vjp` does for arrays."""
@overload
def vjp(f: Callable[[_A0, _A1, _A2], R], *primals: Unpack[tuple[_A0, _A1, _A2]], has_aux: Literal[False] = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[_A0, _A1, _A2]]]: """Call a function and return its pullback, as `jax.vjp` does for arrays."""
@overload
def vjp(f: Callable[[_A0, _A1, _A2, _A3], R], *primals: Unpack[tuple[_A0, _A1, _A2, _A3]], has_aux: Literal[False] = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[_A0, _A1, _A2, _A3]]]: """Call a function and return its pullback, as `jax.vjp` does for arrays."""
@overload
def vjp(f: Callable[..., R], *primals: Unpack[tuple[Any, Any, Any, Any, Any, Unpack[tuple[Any, ...]]]], has_aux: Literal[False] = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[Any, ...]]]: """Call a function and return its pullback, as `jax.vjp` does for arrays."""
@overload
def vjp(f: Callable[P, R], *, has_aux: Literal[False] = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Vjp[P, tuple[R, Pullback[R, tuple[Any, ...]]]]: """Call a function and return its pullback, as `jax.vjp` does for arrays."""
@overload
def vjp(*, has_aux: Literal[False] = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[Callable[P, R]], Vjp[P, tuple[R, Pullback[R, tuple[Any, ...]]]]]: """Call a function and return its pullback, as `jax.vjp` does for arrays."""
@overload
def vjp(f: Callable[[_A0], tuple[R, _X]], *primals: Unpack[tuple[_A0]], has_aux: Literal[True], reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[_A0]], _X]: """Call a function and return its pullback, as `jax.vjp` does for arrays."""
@overload
def vjp(f: Callable[[_A0, _A1], tuple[R, _X]], *primals: Unpack[tuple[_A0, _A1]], has_aux: Literal[True], reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[_A0, _A1]], _X]: """Call a function and return its pullback, as `jax.vjp` does for arrays."""
@overload
def vjp(f: Callable[[_A0, _A1, _A2], tuple[R, _X]], *primals: Unpack[tuple[_A0, _A1, _A2]], has_aux: Literal[True], reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[_A0, _A1, _A2]], _X]: """Call a function and return its pullback, as `jax.vjp` does for arrays."""
@overload
def vjp(f: Callable[[_A0, _A1, _A2, _A3], tuple[R, _X]], *primals: Unpack[tuple[_A0, _A1, _A2, _A3]], has_aux: Literal[True], reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[_A0, _A1, _A2, _A3]], _X]: """Call a function and return its pullback, as `jax.vjp` does for arrays."""
@overload
def vjp(f: Callable[..., tuple[R, _X]], *primals: Unpack[tuple[Any, Any, Any, Any, Any, Unpack[tuple[Any, ...]]]], has_aux: Literal[True], reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, Pullback[R, tuple[Any, ...]], _X]: """Call a function and return its pullback, as `jax.vjp` does for arrays."""
@overload
def vjp(f: Callable[P, tuple[R, _X]], *, has_aux: Literal[True], reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Vjp[P, tuple[R, Pullback[R, tuple[Any, ...]], _X]]: """Call a function and return its pullback, as `jax.vjp` does for arrays."""
@overload
def vjp(*, has_aux: Literal[True], reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[Callable[P, tuple[R, _X]]], Vjp[P, tuple[R, Pullback[R, tuple[Any, ...]], _X]]]: """Call a function and return its pullback, as `jax.vjp` does for arrays."""

@overload
def jvp(f: Callable[[_A0], R], primals: tuple[_A0], tangents: tuple[_A0 | State[Any, Any, Any, Any]] | list[Any], *, has_aux: Literal[False] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R]:
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
        ResultError: With has_aux, the function did not return a pair.
        SharedReferenceError: The function returned an object of an argument.

    Returns:
        The result and its tangent, with has_aux also the auxiliary output.
    """
@overload
def jvp(f: Callable[[_A0, _A1], R], primals: tuple[_A0, _A1], tangents: tuple[_A0 | State[Any, Any, Any, Any], _A1 | State[Any, Any, Any, Any]] | list[Any], *, has_aux: Literal[False] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R]: """Call a function and push tangents forward, as `jax.jvp` does for arrays."""
@overload
def jvp(f: Callable[[_A0, _A1, _A2], R], primals: tuple[_A0, _A1, _A2], tangents: tuple[_A0 | State[Any, Any, Any, Any], _A1 | State[Any, Any, Any, Any], _A2 | State[Any, Any, Any, Any]] | list[Any], *, has_aux: Literal[False] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R]: """Call a function and push tangents forward, as `jax.jvp` does for arrays."""
@overload
def jvp(f: Callable[[_A0, _A1, _A2, _A3], R], primals: tuple[_A0, _A1, _A2, _A3], tangents: tuple[_A0 | State[Any, Any, Any, Any], _A1 | State[Any, Any, Any, Any], _A2 | State[Any, Any, Any, Any], _A3 | State[Any, Any, Any, Any]] | list[Any], *, has_aux: Literal[False] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R]: """Call a function and push tangents forward, as `jax.jvp` does for arrays."""
@overload
def jvp(f: Callable[..., R], primals: list[Any] | tuple[Any, Any, Any, Any, Any, Unpack[tuple[Any, ...]]], tangents: Sequence[Any], *, has_aux: Literal[False] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R]: """Call a function and push tangents forward, as `jax.jvp` does for arrays."""
@overload
def jvp(f: Callable[..., R], *, has_aux: Literal[False] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Jvp[tuple[R, R]]: """Call a function and push tangents forward, as `jax.jvp` does for arrays."""
@overload
def jvp(*, has_aux: Literal[False] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[Callable[..., R]], Jvp[tuple[R, R]]]: """Call a function and push tangents forward, as `jax.jvp` does for arrays."""
@overload
def jvp(f: Callable[[_A0], tuple[R, _X]], primals: tuple[_A0], tangents: tuple[_A0 | State[Any, Any, Any, Any]] | list[Any], *, has_aux: Literal[True], graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R, _X]: """Call a function and push tangents forward, as `jax.jvp` does for arrays."""
@overload
def jvp(f: Callable[[_A0, _A1], tuple[R, _X]], primals: tuple[_A0, _A1], tangents: tuple[_A0 | State[Any, Any, Any, Any], _A1 | State[Any, Any, Any, Any]] | list[Any], *, has_aux: Literal[True], graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R, _X]: """Call a function and push tangents forward, as `jax.jvp` does for arrays."""
@overload
def jvp(f: Callable[[_A0, _A1, _A2], tuple[R, _X]], primals: tuple[_A0, _A1, _A2], tangents: tuple[_A0 | State[Any, Any, Any, Any], _A1 | State[Any, Any, Any, Any], _A2 | State[Any, Any, Any, Any]] | list[Any], *, has_aux: Literal[True], graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R, _X]: """Call a function and push tangents forward, as `jax.jvp` does for arrays."""
@overload
def jvp(f: Callable[[_A0, _A1, _A2, _A3], tuple[R, _X]], primals: tuple[_A0, _A1, _A2, _A3], tangents: tuple[_A0 | State[Any, Any, Any, Any], _A1 | State[Any, Any, Any, Any], _A2 | State[Any, Any, Any, Any], _A3 | State[Any, Any, Any, Any]] | list[Any], *, has_aux: Literal[True], graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R, _X]: """Call a function and push tangents forward, as `jax.jvp` does for arrays."""
@overload
def jvp(f: Callable[..., tuple[R, _X]], primals: list[Any] | tuple[Any, Any, Any, Any, Any, Unpack[tuple[Any, ...]]], tangents: Sequence[Any], *, has_aux: Literal[True], graph: bool | None = ..., graph_updates: bool | None = ...) -> tuple[R, R, _X]: """Call a function and push tangents forward, as `jax.jvp` does for arrays."""
@overload
def jvp(f: Callable[..., tuple[R, _X]], *, has_aux: Literal[True], graph: bool | None = ..., graph_updates: bool | None = ...) -> Jvp[tuple[R, R, _X]]: """Call a function and push tangents forward, as `jax.jvp` does for arrays."""
@overload
def jvp(*, has_aux: Literal[True], graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[Callable[..., tuple[R, _X]]], Jvp[tuple[R, R, _X]]]: """Call a function and push tangents forward, as `jax.jvp` does for arrays."""
