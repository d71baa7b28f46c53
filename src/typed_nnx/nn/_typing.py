"""The types that signatures of layers are written in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

import jax
from jax.typing import DTypeLike

Array: TypeAlias = jax.Array
Dtype: TypeAlias = DTypeLike
Shape: TypeAlias = Sequence[int]
Size: TypeAlias = int
Axis: TypeAlias = int
Axes: TypeAlias = int | Sequence[int]


PrecisionLike: TypeAlias = (
    str | jax.lax.Precision | tuple[str, str] | tuple[jax.lax.Precision, jax.lax.Precision] | None
)

# An initializer of jax, or one whose result carries metadata (`with_metadata`, `with_partitioning`).
Initializer: TypeAlias = jax.nn.initializers.Initializer | Callable[..., Any]

# Replacements of what a layer computes with take what the original takes, by its names.
DotGeneralT: TypeAlias = Callable[..., Array]
ConvGeneralDilatedT: TypeAlias = Callable[..., Array]
EinsumT: TypeAlias = Callable[..., Array]

LaxPadding: TypeAlias = str | Sequence[tuple[int, int]]
PaddingLike: TypeAlias = str | int | Sequence[int | tuple[int, int]]

Sharding: TypeAlias = jax.sharding.NamedSharding | jax.sharding.PartitionSpec | None
"""Where a result is laid out over an explicit mesh."""

Arrays = TypeVar("Arrays", bound=tuple[Any, ...])


class PromoteDtypeFn(Protocol):
    """A function like `promote_dtype`, which layers call on their inputs and parameters."""

    def __call__(
        self, args: Arrays, /, *, dtype: Dtype | None = None, inexact: bool = True
    ) -> Arrays:
        """Return the arrays of `args` in one dtype; None stays None."""
        ...
