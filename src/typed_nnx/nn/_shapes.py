"""Shapes of arrays: how one broadcasts against another, and how errors name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from typed_nnx.nn._typing import Array


def along_last_axis(vector: Array, ndim: int) -> Array:
    """Reshape [features] to rank `ndim`, [1, ..., features], so that no rank promotes silently."""
    return vector.reshape((1,) * (ndim - 1) + (-1,))


def as_tuple(value: int | Sequence[int]) -> tuple[int, ...]:
    """Return a number as a tuple of one, and a sequence as a tuple."""
    return tuple(value) if isinstance(value, Sequence) else (value,)


def size_held(layer: object, name: str, size: int, parameter: str) -> str:
    """Return the size that a layer works with as errors show it: ``in_features=4``.

    The layer was made with the attribute `name`; what counts is the size that `parameter` has now,
    which differs in a `shard_map` and where the parameter was replaced.
    """
    return f"{name}={size}" if getattr(layer, name) == size else f"{size} (as `{parameter}` has)"


def described(value: Any) -> str:
    """Return dtype and shape of an array as errors show them: ``float32[2,3]``."""
    if not hasattr(value, "dtype"):
        return f"{value!r} ({type(value).__name__})"
    return f"{value.dtype}[{','.join(map(str, jnp.shape(value)))}]"
