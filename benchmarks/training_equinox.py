"""The networks of the training benchmarks of equinox's layers, which map one example each."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from benchmarks.training_models import CLASSES, VOCABULARY, causal


class MLP(eqx.Module):
    """A perceptron: three hidden layers of 256."""

    layers: list[Any]

    def __init__(self, key: Any) -> None:
        sizes = (64, 256, 256, 256, CLASSES)
        keys = jax.random.split(key, len(sizes) - 1)
        self.layers = [
            eqx.nn.Linear(n_in, n_out, key=k)
            for n_in, n_out, k in zip(sizes[:-1], sizes[1:], keys, strict=True)
        ]

    def __call__(self, x: Any) -> Any:
        """Return logits of float [64]."""
        for layer in self.layers[:-1]:
            x = jax.nn.relu(layer(x))
        return self.layers[-1](x)


class Block(eqx.Module):
    """A transformer block, normalised before."""

    norm1: Any
    attention: Any
    norm2: Any
    up: Any
    down: Any

    def __init__(self, width: int, heads: int, key: Any) -> None:
        keys = jax.random.split(key, 3)
        self.norm1 = eqx.nn.LayerNorm(width)
        self.norm2 = eqx.nn.LayerNorm(width)
        self.attention = eqx.nn.MultiheadAttention(
            heads,
            width,
            use_query_bias=True,
            use_key_bias=True,
            use_value_bias=True,
            use_output_bias=True,
            key=keys[0],
        )
        self.up = eqx.nn.Linear(width, 4 * width, key=keys[1])
        self.down = eqx.nn.Linear(4 * width, width, key=keys[2])

    def __call__(self, x: Any, mask: Any) -> Any:
        """Return float [length, width]."""
        normed = jax.vmap(self.norm1)(x)
        x = x + self.attention(normed, normed, normed, mask=mask)
        normed = jax.vmap(self.norm2)(x)
        return x + jax.vmap(lambda y: self.down(jax.nn.gelu(self.up(y))))(normed)


class Transformer(eqx.Module):
    """A ViT or a decoder: what comes first and whether places see those after differ."""

    first: Any
    places: Any
    blocks: list[Any]
    norm: Any
    head: Any
    is_decoder: bool = eqx.field(static=True)

    def __init__(self, is_decoder: bool, key: Any) -> None:
        width, blocks, length, out = (
            (128, 12, 64, VOCABULARY) if is_decoder else (64, 6, 16, CLASSES)
        )
        keys = jax.random.split(key, blocks + 3)
        self.is_decoder = is_decoder
        self.first = (
            eqx.nn.Embedding(VOCABULARY, width, key=keys[0])
            if is_decoder
            else eqx.nn.Linear(4, width, key=keys[0])
        )
        self.places = 0.02 * jax.random.normal(keys[1], (length, width))
        self.blocks = [Block(width, 4, k) for k in keys[3:]]
        self.norm = eqx.nn.LayerNorm(width)
        self.head = eqx.nn.Linear(width, out, key=keys[2])

    def __call__(self, x: Any) -> Any:
        """Return logits of float [16, 4] or int [length]."""
        x = jax.vmap(self.first)(x) + self.places[: x.shape[0]]
        mask = causal(x.shape[0])[0, 0] if self.is_decoder else None
        for each in self.blocks:
            x = each(x, mask)
        x = jax.vmap(self.norm)(x)
        return jax.vmap(self.head)(x) if self.is_decoder else self.head(jnp.mean(x, 0))


def model_of(name: str) -> Any:
    """Return the network of a name."""
    key = jax.random.key(0)
    return MLP(key) if name == "MLP" else Transformer(name == "decoder", key)
