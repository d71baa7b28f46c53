"""`transform_metadata`: the change that a mapped axis makes to sharding metadata, without mapping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from typed_nnx._core.unset import UNSET
from typed_nnx._transforms.axis_metadata import PARTITION_NAME, AxisMetadata
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.mapped import Axes, Mapped
from typed_nnx._transforms.outcomes import Outcome
from typed_nnx._transforms.prefix_types import CarryPrefix

P = ParamSpec("P")
R = TypeVar("R")


class WithAxisMetadata(Mapped[P, R]):
    """A function that sees metadata without the mapped axis; what `transform_metadata` returns."""

    transform = "transform_metadata"
    _always_by_position = True

    def _map(self, call: Call) -> Callable[..., Outcome]:
        return self._flat(call.signature)


@overload
def transform_metadata(
    f: Callable[P, R],
    *,
    in_axes: CarryPrefix = ...,
    out_axes: CarryPrefix = ...,
    partition: str | None,
    graph: bool | None = ...,
) -> Callable[P, R]: ...
@overload
def transform_metadata(
    *,
    in_axes: CarryPrefix = ...,
    out_axes: CarryPrefix = ...,
    partition: str | None,
    graph: bool | None = ...,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def transform_metadata(
    f: Any = UNSET,
    *,
    in_axes: CarryPrefix = 0,
    out_axes: CarryPrefix = 0,
    partition: str | None,
    graph: bool | None = None,
) -> Any:
    """Change the sharding metadata of Variables as a mapped axis does, without mapping values.

    For a function that is called inside a transform of jax which adds an axis: it sees the
    ``out_sharding`` of its Variables without the name of the axis; outside the name is there.

    >>> import jax.numpy as jnp
    >>> def create(x):
    ...     return Param(x, out_sharding=("features",), eager_sharding=False)
    >>> weight = vmap(transform_metadata(create, partition="layers"))(jnp.ones((4, 2)))
    >>> weight.get_metadata("out_sharding")
    ('layers', 'features')

    Args:
        f: Any callable. Without it a decorator is returned.
        in_axes: The axes of the arguments, as in `vmap`. Arguments given by name count in their
            position. Variables under None or `Carry` are left as they are.
        out_axes: The axes of the result.
        partition: The name of the axis, None for an axis that is not sharded.
        graph: False asserts that the arguments are trees, without shared references.

    Raises:
        PartitionNameError: An argument has another name, or none, at its axis.
        PrefixLengthError: There is not one axis for each argument.
        PrefixConflictError: A Variable is reached on two paths with different axes.
        NoFilterMatchedError: No filter of a `StateAxes` matches a Variable.
    """
    axes = Axes(
        in_axes, out_axes, metadata=AxisMetadata("transform_metadata", {PARTITION_NAME: partition})
    )

    def wrap(function: Any) -> WithAxisMetadata[..., Any]:
        return WithAxisMetadata(function, axes, graph, None)

    return wrap if f is UNSET else wrap(f)
