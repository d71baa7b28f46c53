"""What `MultiHeadAttention` refuses in its constructor and in its calls."""

from __future__ import annotations

from typing import Protocol

import jax.numpy as jnp

from typed_nnx.errors import LayerArgumentError, LayerInputError
from typed_nnx.nn._dot_product_attention import check_rate
from typed_nnx.nn._shapes import described
from typed_nnx.nn._typing import Array


class Sizes(Protocol):
    """The attributes of a `MultiHeadAttention` that are checked."""

    num_heads: int
    num_kv_heads: int
    in_features: int
    in_kv_features: int
    qkv_features: int
    dropout_rate: float


def check_heads(layer: Sizes) -> None:
    """Refuse heads that do not divide the features, or each other, and a rate that is none.

    Raises:
        LayerArgumentError: It names the argument.
    """
    heads, shared, features = layer.num_heads, layer.num_kv_heads, layer.qkv_features
    name = type(layer).__name__
    if heads < 1 or features % heads:
        raise LayerArgumentError(
            name,
            "num_heads",
            repr(heads),
            f"a number that divides qkv_features={features}",
            f"nnx.{name}(num_heads=4, in_features=64, ...)",
        )
    if shared < 1 or heads % shared:
        raise LayerArgumentError(
            name,
            "num_kv_heads",
            repr(shared),
            f"a number that divides num_heads={heads}",
            f"nnx.{name}(num_heads=8, in_features=64, num_kv_heads=2, ...)",
        )
    check_rate(name, layer.dropout_rate)


def checked_inputs(
    layer: Sizes, inputs_q: Array, inputs_k: Array | None, inputs_v: Array | None
) -> tuple[Array, Array]:
    """Return the inputs of keys and values, which are those of the queries if they are None.

    Raises:
        LayerInputError: Inputs do not fit the layer, or there are some for values and none for
            keys.
    """
    name = type(layer).__name__
    if inputs_k is None and inputs_v is not None:
        raise LayerInputError(
            name,
            "inputs_k",
            f"None while inputs_v is {described(inputs_v)}",
            "the inputs of the keys with those of the values",
            "layer(inputs_q, inputs_k), where inputs_k are those of the values too",
        )
    keys = inputs_q if inputs_k is None else inputs_k
    values = keys if inputs_v is None else inputs_v
    _check(name, "inputs_q", inputs_q, "in_features", layer.in_features)
    _check(name, "inputs_k", keys, "in_kv_features", layer.in_kv_features)
    _check(name, "inputs_v", values, "in_kv_features", layer.in_kv_features)
    return keys, values


def _check(layer: str, argument: str, inputs: Array, name: str, features: int) -> None:
    if jnp.ndim(inputs) < 2 or inputs.shape[-1] != features:
        raise LayerInputError(
            layer,
            argument,
            described(inputs),
            f"shape (..., tokens, {features}), since {name}={features}",
            f"give inputs of that shape, or another {name} to nnx.{layer}",
        )
