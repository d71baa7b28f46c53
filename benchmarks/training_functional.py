"""The networks of the training benchmarks by hand: pure functions of nested dicts of arrays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from benchmarks.training_models import causal


def affine(p: Any, x: Any) -> Any:
    """Map float [..., in] to float [..., out]."""
    return x @ p["kernel"] + p["bias"]


def normalised(p: Any, x: Any) -> Any:
    """Normalise float [..., width] over its last axis."""
    mean = x.mean(-1, keepdims=True)
    variance = jnp.maximum((x * x).mean(-1, keepdims=True) - mean * mean, 0)
    return (x - mean) * (jax.lax.rsqrt(variance + 1e-6) * p["scale"]) + p["bias"]


def attended(p: Any, x: Any, mask: Any) -> Any:
    """Attend within float [batch, length, width]."""
    q, k, v = (
        jnp.einsum("blw,whd->blhd", x, p[name]["kernel"]) + p[name]["bias"]
        for name in ("query", "key", "value")
    )
    mixed = jax.nn.dot_product_attention(q, k, v, mask=mask)
    return jnp.einsum("blhd,hdw->blw", mixed, p["out"]["kernel"]) + p["out"]["bias"]


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
