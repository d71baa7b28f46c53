"""What options such as ``in_axes`` and ``in_specs`` take, for type checkers.

A prefix may be a tree of any kind, so a checker can only tell what is no prefix: a string, a float,
a function.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, TypeAlias

from jax.sharding import PartitionSpec

from typed_nnx._core.pytree import Pytree
from typed_nnx._core.variable import Variable
from typed_nnx._transforms.prefixes import Carry


class DataclassTree(Protocol):
    """A dataclass, which may be registered with jax."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


class ClassTree(Protocol):
    """An object of a class that is registered with ``jax.tree_util.register_pytree_node_class``."""

    def tree_flatten(self) -> tuple[Any, Any]:
        """Return children and static data."""
        ...


PrefixTree: TypeAlias = (
    tuple[Any, ...]
    | list[Any]
    | Mapping[Any, Any]
    | Pytree
    | Variable[Any]
    | DataclassTree
    | ClassTree
)
"""A tree of prefixes, or prefixes by filter; what is in it is not known to checkers."""

AxisPrefix: TypeAlias = int | PrefixTree | None
"""An axis, None for "no axis", or a tree of them."""

CarryPrefix: TypeAlias = AxisPrefix | type[Carry]
"""Axes and `Carry`."""

SpecPrefix: TypeAlias = PartitionSpec | PrefixTree | None
"""A spec, None for "whole on every device", or a tree of them."""
