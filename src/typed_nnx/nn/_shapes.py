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


def described(value: Any) -> str:
    """Return dtype and shape of an array as errors show them: ``float32[2,3]``."""
    if not hasattr(value, "dtype"):
        return f"{value!r} ({type(value).__name__})"
    return f"{value.dtype}[{','.join(map(str, jnp.shape(value)))}]"
