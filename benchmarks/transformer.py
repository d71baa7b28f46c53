"""One transformer four times: for an NNX, for equinox, and as functions of nested dicts.

All share the arithmetic below, so that what differs in tracing them is how they reach their arrays.
"""

from __future__ import annotations

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

WIDTH, HEADS, LENGTH, BATCH, VOCABULARY = 64, 4, 16, 2, 128


# -- arithmetic ------------------------------------------------------------------------------------------


def affine(x: Any, kernel: Any, bias: Any) -> Any:
    """Map float [..., in] to float [..., out]."""
    return x @ kernel + bias


def normalised(x: Any, scale: Any, bias: Any) -> Any:
    """Normalise float [..., width] over its last axis."""
    mean = x.mean(-1, keepdims=True)
    centred = x - mean
    return (
        centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-6) * scale + bias
    )


def attended(qkv: Any) -> Any:
    """Attend causally: float [batch, length, 3 * width] -> float [batch, length, width]."""
    batch, length, _ = qkv.shape
    q, k, v = jnp.split(qkv.reshape(batch, length, HEADS, -1), 3, axis=-1)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones((length, length), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(batch, length, -1)


def cross_entropy(logits: Any, tokens: Any) -> Any:
    """Return the mean loss of predicting the next of int [batch, length] tokens."""
    chances = jax.nn.log_softmax(logits[:, :-1])
    return -jnp.take_along_axis(chances, tokens[:, 1:, None], axis=-1).mean()


# -- functions of nested dicts -----------------------------------------------------------------------------


def functional_params(blocks: int) -> Any:
    """Return the arrays as nested dicts and lists."""

    def linear(n_in: int, n_out: int) -> Any:
        return {"kernel": jnp.full((n_in, n_out), 0.01, jnp.float32), "bias": jnp.zeros((n_out,))}

    def norm() -> Any:
        return {"scale": jnp.ones((WIDTH,)), "bias": jnp.zeros((WIDTH,))}

    def block() -> Any:
        return {
            "norm1": norm(),
            "qkv": linear(WIDTH, 3 * WIDTH),
            "out": linear(WIDTH, WIDTH),
            "norm2": norm(),
            "up": linear(WIDTH, 4 * WIDTH),
            "down": linear(4 * WIDTH, WIDTH),
        }

    return {
        "embedding": jnp.full((VOCABULARY, WIDTH), 0.01, jnp.float32),
        "blocks": [block() for _ in range(blocks)],
        "norm": norm(),
        "head": linear(WIDTH, VOCABULARY),
    }


def functional_forward(params: Any, tokens: Any) -> Any:
    """Return the logits of int [batch, length] tokens."""
    x = params["embedding"][tokens]
    for p in params["blocks"]:
        y = affine(normalised(x, **p["norm1"]), **p["qkv"])
        x = x + affine(attended(y), **p["out"])
        y = affine(normalised(x, **p["norm2"]), **p["up"])
        x = x + affine(jax.nn.gelu(y), **p["down"])
    return affine(normalised(x, **params["norm"]), **params["head"])


# -- an NNX --------------------------------------------------------------------------------------------------


@functools.cache
def _nnx_class(nnx: Any) -> Any:
    class Linear(nnx.Module):
        def __init__(self, n_in: int, n_out: int) -> None:
            self.kernel = nnx.Param(jnp.full((n_in, n_out), 0.01, jnp.float32))
            self.bias = nnx.Param(jnp.zeros((n_out,)))
            self.in_features, self.out_features = n_in, n_out

        def __call__(self, x: Any) -> Any:
            return affine(x, self.kernel[...], self.bias[...])

    class Norm(nnx.Module):
        def __init__(self) -> None:
            self.scale = nnx.Param(jnp.ones((WIDTH,)))
            self.bias = nnx.Param(jnp.zeros((WIDTH,)))
            self.epsilon = 1e-6

        def __call__(self, x: Any) -> Any:
            return normalised(x, self.scale[...], self.bias[...])

    class Block(nnx.Module):
        def __init__(self) -> None:
            self.norm1, self.norm2 = Norm(), Norm()
            self.qkv, self.out = Linear(WIDTH, 3 * WIDTH), Linear(WIDTH, WIDTH)
            self.up, self.down = Linear(WIDTH, 4 * WIDTH), Linear(4 * WIDTH, WIDTH)

        def __call__(self, x: Any) -> Any:
            x = x + self.out(attended(self.qkv(self.norm1(x))))
            return x + self.down(jax.nn.gelu(self.up(self.norm2(x))))

    class Transformer(nnx.Module):
        def __init__(self, blocks: int) -> None:
            self.embedding = nnx.Param(jnp.full((VOCABULARY, WIDTH), 0.01, jnp.float32))
            self.blocks = nnx.List([Block() for _ in range(blocks)])
            self.norm, self.head = Norm(), Linear(WIDTH, VOCABULARY)

        def __call__(self, tokens: Any) -> Any:
            x = self.embedding[...][tokens]
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    for cls in (Linear, Norm, Block, Transformer):
        cls.__qualname__ = cls.__name__  # models are not local classes, whose types are not cached
    return Transformer


def nnx_transformer(nnx: Any, blocks: int) -> Any:
    """Return the transformer of typed-nnx or flax."""
    return _nnx_class(nnx)(blocks)


# -- equinox ---------------------------------------------------------------------------------------------------


class _Linear(eqx.Module):
    kernel: jax.Array
    bias: jax.Array

    def __call__(self, x: Any) -> Any:
        return affine(x, self.kernel, self.bias)


class _Norm(eqx.Module):
    scale: jax.Array
    bias: jax.Array

    def __call__(self, x: Any) -> Any:
        return normalised(x, self.scale, self.bias)


class _Block(eqx.Module):
    norm1: _Norm
    qkv: _Linear
    out: _Linear
    norm2: _Norm
    up: _Linear
    down: _Linear

    def __call__(self, x: Any) -> Any:
        x = x + self.out(attended(self.qkv(self.norm1(x))))
        return x + self.down(jax.nn.gelu(self.up(self.norm2(x))))


class EquinoxTransformer(eqx.Module):
    """The transformer of equinox."""

    embedding: jax.Array
    blocks: list[_Block]
    norm: _Norm
    head: _Linear

    def __call__(self, tokens: Any) -> Any:
        """Return the logits of int [batch, length] tokens."""
        x = self.embedding[tokens]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def equinox_transformer(blocks: int) -> EquinoxTransformer:
    """Return the transformer of equinox with the arrays of the functional one."""
    params = functional_params(blocks)

    def block(p: Any) -> _Block:
        parts: Any = {
            name: (_Norm if name.startswith("norm") else _Linear)(**arrays)
            for name, arrays in p.items()
        }
        return _Block(**parts)

    return EquinoxTransformer(
        embedding=params["embedding"],
        blocks=[block(p) for p in params["blocks"]],
        norm=_Norm(**params["norm"]),
        head=_Linear(**params["head"]),
    )
