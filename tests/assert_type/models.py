"""The models that the case files of this folder use: ``from tests.assert_type.models import MLP``.

A case file is checked by mypy and by pyright and never run. It holds, inside annotated functions,
``assert_type(...)`` lines, and wrong lines that end with a mark:

    nnx.merge(graphdef)  # E                                  both checkers report an error here
    nnx.merge(graphdef)  # E: [call-arg|reportCallIssue]      ... with these codes
    nnx.merge(graphdef)  # E mypy: pyright cannot know this   only mypy does, and why
    nnx.merge(graphdef)  # E pyright: mypy gives Any here     only pyright does, and why

Every other error, of either checker, and every mark without its error fails the test. By hand:
``python -m tests.assert_type.check [NAME...]``.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import jax
import jax.numpy as jnp

import typed_nnx as nnx

M = TypeVar("M", bound=nnx.Module)


class Temperature(nnx.Variable[jax.Array]):
    """A type of Variable that a user defines."""


class Block(nnx.Module):
    """A matrix with a bias that may be absent."""

    def __init__(self, size: int, *, bias: bool = True, rngs: nnx.Rngs) -> None:
        self.kernel = nnx.Param(jax.random.normal(rngs.params(), (size, size)))
        self.bias = nnx.Param(jnp.zeros(size)) if bias else None

    def __call__(self, x: jax.Array) -> jax.Array:
        y = x @ self.kernel[...]
        return y if self.bias is None else y + self.bias[...]


class MLP(nnx.Module):
    """Linear layers around blocks, with statistics, dropout and a scale of the user's own type."""

    def __init__(self, features: int, hidden: int = 8, classes: int = 2, *, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(features, hidden, rngs=rngs)
        self.blocks = nnx.List([Block(hidden, rngs=rngs) for _ in range(2)])
        self.norm = nnx.BatchNorm(hidden, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)
        self.last = nnx.Linear(hidden, classes, rngs=rngs)
        self.temperature = Temperature(jnp.ones(()))
        self.classes = classes

    def __call__(self, x: jax.Array) -> jax.Array:
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.last(self.dropout(jax.nn.relu(self.norm(x)))) / self.temperature[...]

    def predict(self, x: jax.Array, *, top: int = 1) -> jax.Array:
        """Return the most likely classes of each row, int32 [batch, top]."""
        return jax.lax.top_k(self(x), top)[1]


class CNN(nnx.Module):
    """A convolution, a pool and a head."""

    def __init__(self, channels: int, *, rngs: nnx.Rngs) -> None:
        self.conv = nnx.Conv(1, channels, (3, 3), rngs=rngs)
        self.norm = nnx.BatchNorm(channels, rngs=rngs)
        self.head = nnx.Linear(channels, 10, rngs=rngs)

    def __call__(self, images: jax.Array) -> jax.Array:
        x = nnx.relu(self.norm(self.conv(images)))
        return self.head(x.mean(axis=(1, 2)))


class Adapted(nnx.Module):
    """A layer whose matrix is fixed and adapted by one of low rank."""

    def __init__(self, features: int, rank: int, *, rngs: nnx.Rngs) -> None:
        self.layer = nnx.LoRALinear(features, features, lora_rank=rank, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.layer(x)


class Box(nnx.Module, Generic[M]):
    """Holds any Module."""

    def __init__(self, inner: M) -> None:
        self.inner = inner


def logits_loss(model: MLP, x: jax.Array, y: jax.Array) -> jax.Array:
    """Return the mean squared error, float32 []."""
    return jnp.square(model(x) - y).mean()
