"""What `MultiHeadAttention` refuses in its constructor and in its calls."""

from __future__ import annotations

from typing import Protocol

import jax.numpy as jnp

from typed_nnx._core.module import Module
from typed_nnx.errors import LayerArgumentError, LayerInputError
from typed_nnx.nn._dot_product_attention import check_rate
from typed_nnx.nn._linear_general import sizes_of_inputs
from typed_nnx.nn._shapes import described, size_held
from typed_nnx.nn._typing import Array


class Sizes(Protocol):
    """The attributes of a `MultiHeadAttention` that are checked."""

    num_heads: int
    num_kv_heads: int
    in_features: int
    in_kv_features: int
    qkv_features: int
    dropout_rate: float

    @property
    def query(self) -> Module: ...

    @property
    def key(self) -> Module: ...

    @property
    def value(self) -> Module: ...


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
    _check(layer, "inputs_q", inputs_q, "in_features", layer.query)
    _check(layer, "inputs_k", keys, "in_kv_features", layer.key)
    _check(layer, "inputs_v", values, "in_kv_features", layer.value)
    return keys, values


def _check(layer: Sizes, argument: str, inputs: Array, name: str, projection: Module) -> None:
    """Refuse inputs that the projection cannot take; one that is not our own checks them itself."""
    features: int = getattr(layer, name)
    sizes = sizes_of_inputs(projection)
    if sizes is not None:
        (features,) = sizes
    elif jnp.ndim(inputs) >= 2:
        return
    if jnp.ndim(inputs) < 2 or inputs.shape[-1] != features:
        raise LayerInputError(
            type(layer).__name__,
            argument,
            described(inputs),
            f"shape (..., tokens, {features}), since {size_held(layer, name, features, 'kernel')}",
            f"give inputs of that shape, or another {name} to nnx.{type(layer).__name__}",
        )
