"""`eval_shape`: the shapes of what a function would return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax

from typed_nnx._transforms.callables import name_of
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.lift import Lift
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.stand_ins import StandIns

A = TypeVar("A")


def eval_shape(
    f: Callable[..., A],
    *args: Any,
    graph: bool | None = None,
    graph_updates: bool | None = None,
    **kwargs: Any,
) -> A:
    """Return what a function returns with shapes in the place of values; nothing is computed.

    The arguments stay as they are: Modules that come out are new ones.

    >>> import jax.numpy as jnp
    >>> eval_shape(lambda: Param(jnp.ones((2, 3)))).shape
    (2, 3)

    Args:
        f: Any callable, often the class of a Module.
        *args: Its arguments; may be abstract themselves.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.
        **kwargs: Its keyword arguments.

    Returns:
        The result, with `jax.ShapeDtypeStruct` in the place of arrays.
    """
    lift = Lift("eval_shape", f, graph, graph_updates)
    call = lift.gather(args, kwargs)

    def flat(args: Any, kwargs: Any, captured: Any) -> Flat:
        return lift.run(call.signature, args, kwargs, captured)

    flat.__name__ = flat.__qualname__ = name_of(f)
    found: Flat = jax.eval_shape(flat, call.args, call.kwargs, call.captured)
    return abstract_result(call, found)  # type: ignore[no-any-return]  # what f returns, abstract


def abstract_result(call: Call, found: Flat) -> Any:
    """Return the result of a call with new objects, of which some came in.

    Args:
        call: The call.
        found: What jax says about the shapes of what it returns.
    """
    if found.static.value.treedef is None:
        return found.result
    pure = (call.args, call.kwargs, call.captured)
    args, kwargs, captured = jax.tree.map(_abstract, pure)
    made = StandIns(call.signature, found)
    made.arguments(args, kwargs, captured)
    return made.result(found)


def _abstract(value: Any) -> Any:
    return jax.eval_shape(lambda array: array, value)
