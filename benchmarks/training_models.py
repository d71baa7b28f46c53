"""Three networks for the training benchmarks, written once for typed-nnx and flax, and their losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

CLASSES, VOCABULARY = 10, 128


class Task(NamedTuple):
    """A network with something to learn.

    Attributes:
        name: Of the network.
        make: Takes the library and its Rngs; returns the model.
        loss: Takes a function from inputs to logits and the batch; returns the mean loss.
        batch: Inputs and labels.
    """

    name: str
    make: Callable[[Any, Any], Any]
    loss: Callable[[Callable[[Any], Any], Any], Any]
    batch: tuple[jax.Array, jax.Array]


def cross_entropy(logits: Callable[[Any], Any], batch: Any) -> Any:
    """Return the mean loss of int labels."""
    inputs, labels = batch
    chances = jax.nn.log_softmax(logits(inputs))
    return -jnp.take_along_axis(chances, labels[..., None], axis=-1).mean()


def mlp(nnx: Any, rngs: Any) -> Any:
    """Make a perceptron for float [batch, 64]: three hidden layers of 256."""

    class MLP(nnx.Module):
        def __init__(self) -> None:
            self.first = nnx.Linear(64, 256, rngs=rngs)
            self.hidden = nnx.List([nnx.Linear(256, 256, rngs=rngs) for _ in range(2)])
            self.last = nnx.Linear(256, CLASSES, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            x = nnx.relu(self.first(x))
            for layer in self.hidden:
                x = nnx.relu(layer(x))
            return self.last(x)

    return MLP()


def block_class(nnx: Any) -> Any:
    """Return the class of a transformer block: attention and a perceptron, normalised before."""

    class Block(nnx.Module):
        def __init__(self, width: int, heads: int, rngs: Any) -> None:
            self.norm1 = nnx.LayerNorm(width, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(heads, width, decode=False, rngs=rngs)
            self.norm2 = nnx.LayerNorm(width, rngs=rngs)
            self.up = nnx.Linear(width, 4 * width, rngs=rngs)
            self.down = nnx.Linear(4 * width, width, rngs=rngs)

        def __call__(self, x: Any, mask: Any) -> Any:
            x = x + self.attention(self.norm1(x), mask=mask)
            return x + self.down(nnx.gelu(self.up(self.norm2(x))))

    return Block


def vit(nnx: Any, rngs: Any) -> Any:
    """Make a vision transformer for float [batch, 16, 4], the patches of 8x8 images: 6 blocks of 64."""
    block = block_class(nnx)

    class ViT(nnx.Module):
        def __init__(self) -> None:
            self.patches = nnx.Linear(4, 64, rngs=rngs)
            self.places = nnx.Param(0.02 * jax.random.normal(rngs.params(), (1, 16, 64)))
            self.blocks = nnx.List([block(64, 4, rngs) for _ in range(6)])
            self.norm = nnx.LayerNorm(64, rngs=rngs)
            self.head = nnx.Linear(64, CLASSES, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            x = self.patches(x) + self.places[...]
            for each in self.blocks:
                x = each(x, None)
            return self.head(self.norm(x).mean(1))

    return ViT()


def decoder(
    nnx: Any, rngs: Any, *, width: int = 128, blocks: int = 12, heads: int = 4, length: int = 64
) -> Any:
    """Make a language model for int [batch, length at most]."""
    block = block_class(nnx)

    class Decoder(nnx.Module):
        def __init__(self) -> None:
            self.embed = nnx.Embed(VOCABULARY, width, rngs=rngs)
            self.places = nnx.Param(0.02 * jax.random.normal(rngs.params(), (1, length, width)))
            self.blocks = nnx.List([block(width, heads, rngs) for _ in range(blocks)])
            self.norm = nnx.LayerNorm(width, rngs=rngs)
            self.head = nnx.Linear(width, VOCABULARY, rngs=rngs)

        def __call__(self, tokens: Any) -> Any:
            x = self.embed(tokens) + self.places[:, : tokens.shape[1]]
            mask = causal(tokens.shape[1])
            for each in self.blocks:
                x = each(x, mask)
            return self.head(self.norm(x))

    return Decoder()


def causal(length: int) -> jax.Array:
    """Return bool [1, 1, length, length]: a place sees itself and those before."""
    return jnp.tril(jnp.ones((1, 1, length, length), bool))


def tasks() -> list[Task]:
    """Return the networks with a batch each."""
    random = np.random.default_rng(0)
    images = random.random((64, 64), np.float32)
    labels = jnp.asarray(random.integers(0, CLASSES, 64))
    tokens = jnp.asarray(random.integers(0, VOCABULARY, (4, 65)))
    patches = images.reshape(64, 4, 2, 4, 2).transpose(0, 1, 3, 2, 4).reshape(64, 16, 4)
    return [
        Task("MLP", mlp, cross_entropy, (jnp.asarray(images), labels)),
        Task("ViT", vit, cross_entropy, (jnp.asarray(patches), labels)),
        Task("decoder", decoder, cross_entropy, (tokens[:, :-1], tokens[:, 1:])),
    ]
