"""Comparing and describing the leaves of a State."""

from __future__ import annotations

from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from typed_nnx._core.variable import Variable


def same_leaf(left: Any, right: Any) -> bool:
    """Whether two leaves are equal: for Variables type, metadata and value, for arrays all of it."""
    if left is right:
        return True
    if isinstance(left, Variable) or isinstance(right, Variable):
        return (
            type(left) is type(right)
            and left._meta == right._meta
            and same_leaf(left.get_raw_value(), right.get_raw_value())
        )
    if isinstance(left, jax.core.Tracer) or isinstance(right, jax.core.Tracer):
        return False  # known only when the program runs
    structure: Any
    leaves, structure = jax.tree.flatten(left)
    others, other_structure = jax.tree.flatten(right)
    return bool(structure == other_structure) and all(map(_same_value, leaves, others))


def _same_value(left: Any, right: Any) -> bool:
    if not isinstance(left, jax.Array | np.ndarray) or not isinstance(
        right, jax.Array | np.ndarray
    ):
        return type(left) is type(right) and bool(left == right)
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    if jnp.issubdtype(left.dtype, jax.dtypes.prng_key):
        left, right = jax.random.key_data(left), jax.random.key_data(right)
    return bool(np.array_equal(np.asarray(left), np.asarray(right)))


def describe_leaf(leaf: Any) -> str:
    """Return the type, dtype and shape of a leaf in a few words: ``BatchStat, int32[]``."""
    if isinstance(leaf, Variable):
        return f"{type(leaf).__name__}, {_describe_value(leaf.get_raw_value())}"
    return _describe_value(leaf)


def _describe_value(value: Any) -> str:
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    if dtype is None or shape is None:
        return type(value).__name__
    return f"{dtype}[{','.join(map(str, shape))}]"
