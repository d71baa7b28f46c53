"""Two classifiers of images: float [batch, 8, 8, 1] to logits as float [batch, 10]."""

from __future__ import annotations

import jax

import typed_nnx as nnx
from examples.digits.data import CLASSES, SIDE

DROPOUT = 0.1
PATCH, STRIDE = (4, 4), (2, 2)
TOKENS = (SIDE // STRIDE[0]) * (SIDE // STRIDE[1])


class MLP(nnx.Module):
    """Two hidden layers on the pixels, without a notion of where a pixel lies.

    Smooth activations: with kinks, roundings that differ between layouts of devices grow to other
    curves, after a hundred steps or so.
    """

    def __init__(self, width: int = 256, *, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(SIDE * SIDE, width, rngs=rngs)
        self.second = nnx.Linear(width, width, rngs=rngs)
        self.dropout = nnx.Dropout(DROPOUT, rngs=rngs)
        self.head = nnx.Linear(width, CLASSES, rngs=rngs)

    def __call__(self, images: jax.Array) -> jax.Array:
        x = images.reshape(len(images), -1)
        x = self.dropout(nnx.gelu(self.first(x)))
        x = self.dropout(nnx.gelu(self.second(x)))
        return self.head(x)


class Block(nnx.Module):
    """A layer of a transformer, normalised before each part: float [batch, tokens, width]."""

    def __init__(self, width: int, heads: int, *, rngs: nnx.Rngs) -> None:
        self.attention_norm = nnx.LayerNorm(width, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(heads, width, decode=False, rngs=rngs)
        self.mlp_norm = nnx.LayerNorm(width, rngs=rngs)
        self.grow = nnx.Linear(width, 4 * width, rngs=rngs)
        self.shrink = nnx.Linear(4 * width, width, rngs=rngs)
        self.dropout = nnx.Dropout(DROPOUT, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        x = x + self.dropout(self.attention(self.attention_norm(x)))
        return x + self.dropout(self.shrink(nnx.gelu(self.grow(self.mlp_norm(x)))))


class VisionTransformer(nnx.Module):
    """Overlapping patches of 4 by 4 pixels as tokens, and the mean of the tokens at the end.

    Source: Dosovitskiy et al., "An image is worth 16x16 words", https://arxiv.org/abs/2010.11929;
    patches that overlap: Hassani et al., https://arxiv.org/abs/2104.05704.
    """

    def __init__(self, width: int = 48, *, rngs: nnx.Rngs) -> None:
        self.patches = nnx.Conv(1, width, PATCH, strides=STRIDE, rngs=rngs)
        start = nnx.initializers.normal(0.5)
        self.positions = nnx.Param(start(rngs.params(), (1, TOKENS, width)))
        self.blocks = nnx.List([Block(width, heads=4, rngs=rngs) for _ in range(2)])
        self.norm = nnx.LayerNorm(width, rngs=rngs)
        self.head = nnx.Linear(width, CLASSES, rngs=rngs)

    def __call__(self, images: jax.Array) -> jax.Array:
        x = self.patches(images)
        x = x.reshape(len(images), TOKENS, -1) + self.positions[...]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(axis=1))


Classifier = MLP | VisionTransformer
