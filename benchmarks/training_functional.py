"""The networks of the training benchmarks by hand: pure functions of nested dicts of arrays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from benchmarks.training_models import causal


def of_rank(array: Any, ndim: int) -> Any:
    """Reshape to rank `ndim`, so that no rank is promoted."""
    return array.reshape((1,) * (ndim - array.ndim) + array.shape)


def affine(p: Any, x: Any) -> Any:
    """Map float [..., in] to float [..., out]."""
    return x @ p["kernel"] + of_rank(p["bias"], x.ndim)


def normalised(p: Any, x: Any) -> Any:
    """Normalise float [..., width] over its last axis."""
    # Reshaped and squared as the layers do it: broadcasts would have other gradients to compile.
    mean = x.mean(-1).reshape(*x.shape[:-1], 1)
    mean_of_squares = jnp.square(x).mean(-1).reshape(*x.shape[:-1], 1)
    variance = jnp.maximum(mean_of_squares - jnp.square(mean), 0)
    scale, bias = of_rank(p["scale"], x.ndim), of_rank(p["bias"], x.ndim)
    return (x - mean) * (jax.lax.rsqrt(variance + 1e-6) * scale) + bias


def attended(p: Any, x: Any, mask: Any) -> Any:
    """Attend within float [batch, length, width]."""
    q, k, v = (
        jnp.einsum("blw,whd->blhd", x, p[name]["kernel"]) + of_rank(p[name]["bias"], 4)
        for name in ("query", "key", "value")
    )
    mixed = jax.nn.dot_product_attention(q, k, v, mask=mask)
    return jnp.einsum("blhd,hdw->blw", mixed, p["out"]["kernel"]) + of_rank(p["out"]["bias"], 3)


def block(p: Any, x: Any, mask: Any) -> Any:
    """Attention and a perceptron, normalised before."""
    x = x + attended(p["attention"], normalised(p["norm1"], x), mask)
    return x + affine(p["down"], jax.nn.gelu(affine(p["up"], normalised(p["norm2"], x))))


def mlp(p: Any, x: Any) -> Any:
    """Return logits of float [batch, 64]."""
    x = jax.nn.relu(affine(p["first"], x))
    for hidden in p["hidden"].values():
        x = jax.nn.relu(affine(hidden, x))
    return affine(p["last"], x)


def vit(p: Any, x: Any) -> Any:
    """Return logits of float [batch, 16, 4]."""
    x = affine(p["patches"], x) + p["places"]
    for each in p["blocks"].values():
        x = block(each, x, None)
    return affine(p["head"], normalised(p["norm"], x).mean(1))


def decoder(p: Any, tokens: Any) -> Any:
    """Return logits of int [batch, length]."""
    x = jnp.take(p["embed"]["embedding"], tokens, axis=0) + p["places"][:, : tokens.shape[1]]
    mask = causal(tokens.shape[1])
    for each in p["blocks"].values():
        x = block(each, x, mask)
    return affine(p["head"], normalised(p["norm"], x))


FUNCTIONS = {"MLP": mlp, "ViT": vit, "decoder": decoder}
