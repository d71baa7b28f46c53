"""`add_axis` and `remove_axis`: the sharding metadata of values that gained or lost an axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import jax

from typed_nnx._core.variable import Variable
from typed_nnx._transforms.axis_metadata import PARTITION_NAME, AxisMetadata
from typed_nnx.errors import MissingPartitionNameError

A = TypeVar("A")


def add_axis(tree: A, index: int, transform_metadata: Mapping[Any, Any]) -> A:
    """Put the name of a new axis into the ``out_sharding`` of each Variable of a tree.

    Args:
        tree: Any pytree, such as a State or a Module; its Variables are changed.
        index: Where the axis was added; a negative one counts from the end.
        transform_metadata: The name, ``{nnx.PARTITION_NAME: name}``.

    Returns:
        The tree.

    Raises:
        MissingPartitionNameError: There is no name.
    """
    axes = _named("add_axis", transform_metadata)
    for variable, names in _variables(tree):
        axes.add_to(variable, index + names + 1 if index < 0 else index)
    return tree


def remove_axis(tree: A, index: int, transform_metadata: Mapping[Any, Any]) -> A:
    """Take the name of an axis out of the ``out_sharding`` of each Variable of a tree.

    Args:
        tree: Any pytree, such as a State or a Module; its Variables are changed.
        index: Where the axis was; a negative one counts from the end.
        transform_metadata: The name, ``{nnx.PARTITION_NAME: name}``.

    Returns:
        The tree.

    Raises:
        MissingPartitionNameError: There is no name.
        PartitionNameError: A Variable has another name, or none, at the axis.
    """
    axes = _named("remove_axis", transform_metadata)
    for variable, names in _variables(tree):
        axes.remove_from(variable, index + names if index < 0 else index)
    return tree


def _named(function: str, transform_metadata: Mapping[Any, Any]) -> AxisMetadata:
    if PARTITION_NAME not in transform_metadata:
        raise MissingPartitionNameError(function, tuple(transform_metadata))
    return AxisMetadata(function, transform_metadata)


def _variables(tree: Any) -> Iterator[tuple[Variable[Any], int]]:
    """Yield each Variable of a tree once, with the number of names in its sharding."""
    found = jax.tree.leaves(tree, is_leaf=lambda leaf: isinstance(leaf, Variable))
    for variable in {id(leaf): leaf for leaf in found if isinstance(leaf, Variable)}.values():
        names: Any = variable._meta.get("out_sharding")
        yield variable, 0 if names is None else len(names)
