"""The keys and values of the tokens that `MultiHeadAttention` has decoded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax

from typed_nnx._core.variable_types import Cache
from typed_nnx.errors import LayerArgumentError, LayerInputError, UnsetModeError
from typed_nnx.nn._shapes import described
from typed_nnx.nn._typing import Array, Dtype

CacheVariable: TypeAlias = Cache[jax.Array]


class Decoded(NamedTuple):
    """All keys and values in the cache, and which of them have been decoded.

    Attributes:
        key: ``[*batch, max_length, key_heads, features]``.
        value: ``[*batch, max_length, key_heads, features]``.
        mask: bool ``[*batch, 1, 1, max_length]``.
    """

    key: Array
    value: Array
    mask: Array


def new_cache(
    layer: str, input_shape: Sequence[int], heads: int, features: int, dtype: Dtype
) -> tuple[CacheVariable, CacheVariable, CacheVariable]:
    """Return Variables for keys, values and how many there are.

    Args:
        layer: The name that errors give.
        input_shape: ``(*batch, max_length, in_features)``.
        heads: How many heads keys and values have.
        features: The features of a head.
        dtype: The dtype of keys and values.

    Raises:
        LayerArgumentError: `input_shape` is no sequence.
    """
    if not isinstance(input_shape, Sequence):
        raise LayerArgumentError(
            f"{layer}.init_cache",
            "input_shape",
            repr(input_shape),
            "the shape of the inputs, (*batch, max_length, in_features)",
            "layer.init_cache(inputs.shape)",
        )
    shape = (*input_shape[:-1], heads, features)
    return (
        Cache(jnp.zeros(shape, dtype)),
        Cache(jnp.zeros(shape, dtype)),
        Cache(jnp.array(0, dtype=jnp.int32)),
    )


def decode_token(
    layer: str,
    cached_key: CacheVariable | None,
    cached_value: CacheVariable | None,
    cache_index: CacheVariable | None,
    key: Array,
    value: Array,
) -> Decoded:
    """Write key and value of one token into the cache and return what is in it.

    Past its end the cache keeps all but its last entry, which each token then replaces.

    Args:
        layer: The name that errors give.
        cached_key: The keys.
        cached_value: The values.
        cache_index: How many tokens were decoded.
        key: ``[*batch, 1, key_heads, features]``.
        value: As `key`.

    Raises:
        UnsetModeError: There is no cache.
        LayerInputError: The key does not have the shape or dtype of one token of the cache.
    """
    if cached_key is None or cached_value is None or cache_index is None:
        raise UnsetModeError(
            layer,
            "cached_key",
            "decoding needs a cache for keys and values",
            (
                "layer.init_cache((*batch, max_length, in_features))",
                "nnx.view(model, decode=True, batch_size=1, max_length=128)",
                "layer(x, decode=False)",
            ),
        )
    keys, values, index = cached_key[...], cached_value[...], cache_index[...]
    _check(layer, keys, key)
    axis = key.ndim - 3
    cached_key[...] = lax.dynamic_update_slice_in_dim(keys, key, index, axis)
    cached_value[...] = lax.dynamic_update_slice_in_dim(values, value, index, axis)
    cache_index[...] = index + 1
    length = keys.shape[axis]
    mask = jnp.broadcast_to(
        jnp.arange(length, dtype=index.dtype) <= index, (*keys.shape[:axis], 1, 1, length)
    )
    return Decoded(cached_key[...], cached_value[...], mask)


def _check(layer: str, keys: Array, key: Array) -> None:
    *batch, length, heads, features = keys.shape
    if key.shape != (*batch, 1, heads, features):
        raise LayerInputError(
            layer,
            "inputs_k",
            f"turned into keys {described(key)}",
            f"keys of shape {(*batch, 1, heads, features)}: one token for a cache of "
            f"{math.prod(batch)} sequences of {length} tokens",
            "give the tokens one by one, layer(x[..., i : i + 1, :]), "
            "with the batch axes that init_cache was given",
        )
    if key.dtype != keys.dtype:
        raise LayerInputError(
            layer,
            "inputs_k",
            f"turned into keys {described(key)}",
            f"keys of the dtype of the cache, {keys.dtype}",
            f"layer.init_cache(shape, dtype=jnp.{key.dtype})",
        )
