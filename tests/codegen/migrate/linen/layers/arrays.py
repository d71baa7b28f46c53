"""What the cases of layers are called with: arrays, and functions of users."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


def _normal(seed: int, *shape: int) -> jax.Array:
    # By numpy: the first call of a function of jax takes much longer.
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape), jnp.float32)


def own_promotion(*arrays: Any, dtype: Any = None, inexact: bool = True) -> Any:
    """Brings arrays to float16."""
    del dtype, inexact
    return [None if array is None else jnp.asarray(array, jnp.float16) for array in arrays]


def own_attention(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Returns something that depends on all of it."""
    assert mask is None
    return query * jnp.mean(key * value, axis=-3, keepdims=True)


NAMES: dict[str, Any] = {
    "nn": nn,
    "jax": jax,
    "jnp": jnp,
    "rows": _normal(0, 2, 6),
    "half": _normal(1, 2, 6).astype(jnp.bfloat16),
    "whole_numbers": jnp.asarray(np.arange(12).reshape(2, 6), jnp.int32),
    "sequence": _normal(2, 2, 5, 6),
    "memory": _normal(3, 2, 4, 10),
    "image": _normal(4, 2, 9, 8, 3),
    "wide_image": _normal(5, 2, 9, 8, 6),
    "numbers": jnp.asarray(np.array([[0, 3, 6], [2, 4, 1]], np.int32)),
    "key": jax.random.key(7),
    "carry": _normal(8, 2, 4),
    "pair": (_normal(9, 2, 4), _normal(10, 2, 4)),
    "picture_pair": (_normal(11, 2, 9, 8, 4), _normal(12, 2, 9, 8, 4)),
    "line_pair": (_normal(13, 2, 5, 4), _normal(14, 2, 5, 4)),
    "attention_mask": _normal(15, 2, 1, 5, 5) > -0.5,
    "lengths": jnp.array([3, 5]),
    "own_mask": (_normal(16, 3, 3, 3, 4) > 0).astype(jnp.float32),
    "own_promotion": own_promotion,
    "own_attention": own_attention,
}
