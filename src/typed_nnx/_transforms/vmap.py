"""`vmap`: functions of Modules over a batch axis."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping
from typing import Any, ParamSpec, TypeVar, overload

import jax

from typed_nnx._core.tracebacks import hides_frames
from typed_nnx._core.unset import UNSET
from typed_nnx._transforms.axis_metadata import named_axis
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.mapped import Axes, Mapped
from typed_nnx._transforms.mapped_values import check_broadcast
from typed_nnx._transforms.outcomes import Outcome
from typed_nnx._transforms.prefix_types import AxisPrefix

P = ParamSpec("P")
R = TypeVar("R")

NO_METADATA: Mapping[str, Any] = {}


class Vmapped(Mapped[P, R]):
    """A vectorised function; what `vmap` returns."""

    transform = "vmap"
    _has_one_size = True
    _shows_inputs = False
    _options: Mapping[str, Any]

    def _axis_size(self) -> int | None:
        size: int | None = self._options["axis_size"]
        return size

    def _map(self, call: Call) -> Callable[..., Outcome]:
        ins, outs = self._prefixes(call)
        check = functools.partial(check_broadcast, self._lift.title, call, self._axes.outs)
        flat = self._flat(call.signature, check)
        return jax.vmap(flat, in_axes=ins, out_axes=outs, **self._options)


@overload
def vmap(
    f: Callable[P, R],
    *,
    in_axes: AxisPrefix = ...,
    out_axes: AxisPrefix = ...,
    axis_name: Hashable | None = ...,
    axis_size: int | None = ...,
    spmd_axis_name: Hashable | tuple[Hashable, ...] | None = ...,
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[P, R]: ...
@overload
def vmap(
    *,
    in_axes: AxisPrefix = ...,
    out_axes: AxisPrefix = ...,
    axis_name: Hashable | None = ...,
    axis_size: int | None = ...,
    spmd_axis_name: Hashable | tuple[Hashable, ...] | None = ...,
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@hides_frames
def vmap(
    f: Any = UNSET,
    *,
    in_axes: AxisPrefix = 0,
    out_axes: AxisPrefix = 0,
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
    spmd_axis_name: Hashable | tuple[Hashable, ...] | None = None,
    transform_metadata: Mapping[str, Any] = NO_METADATA,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Vectorise a function of Modules and arrays over a new axis, as `jax.vmap` does for arrays.

    The Variables of a Module are mapped over the axis that ``in_axes`` gives for it, for all of them
    or, with `StateAxes`, by filter; what they hold afterwards is stacked along the same axis. What
    the function closes over is broadcast.

    >>> import jax.numpy as jnp
    >>> class Scale(Module):
    ...     def __init__(self, factor):
    ...         self.factor = Param(factor)
    >>> scales = vmap(Scale)(jnp.arange(3.0))
    >>> scales.factor.shape
    (3,)
    >>> vmap(lambda scale, x: scale.factor * x, in_axes=(0, None))(scales, jnp.ones(2)).shape
    (3, 2)

    Args:
        f: Any callable. Without it a decorator is returned.
        in_axes: An axis for all positional arguments, or one for each: an int, None for
            broadcasting, a tree of them, or `StateAxes` for a Module.
        out_axes: The same for the result.
        axis_name: The name of the axis for collectives.
        axis_size: The size of the axis, where no argument says it.
        spmd_axis_name: The mesh axes over which the axis is sharded.
        transform_metadata: With the key ``nnx.PARTITION_NAME`` the name of the axis in the sharding
            metadata of Variables.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        BroadcastChangedError: A Variable that is broadcast got a value that differs along the axis.
        PrefixConflictError: A Variable is reached on two paths with different axes.
        NoFilterMatchedError: No filter of a `StateAxes` matches a Variable.
    """
    options = {"axis_name": axis_name, "axis_size": axis_size, "spmd_axis_name": spmd_axis_name}
    axes = Axes(in_axes, out_axes, metadata=named_axis("vmap", transform_metadata))

    def wrap(function: Any) -> Vmapped[..., Any]:
        return Vmapped(function, axes, graph, graph_updates, options)

    return wrap if f is UNSET else wrap(f)
