"""Linen models, each with its migration by hand in nnx_models.py."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp


def squared(x: jax.Array) -> jax.Array:
    return x * x


class MLP(nn.Module):
    features: Sequence[int]
    act: Callable[[jax.Array], jax.Array] = nn.relu

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        for width in self.features[:-1]:
            x = self.act(nn.Dense(width)(x))
        return nn.Dense(self.features[-1], name="head")(x)


class ConvNet(nn.Module):
    classes: int

    @nn.compact
    def __call__(self, images: jax.Array, train: bool = False) -> jax.Array:
        x = nn.Conv(4, (3, 3), use_bias=False)(images)
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        x = nn.relu(x).reshape((x.shape[0], -1))
        return nn.Dense(self.classes)(x)


class Reader(nn.Module):
    words: int
    width: int

    def setup(self) -> None:
        self.embed = nn.Embed(self.words, self.width)
        self.attention = nn.MultiHeadDotProductAttention(2)
        self.norm = nn.LayerNorm()

    def __call__(self, tokens: jax.Array) -> jax.Array:
        x = self.embed(tokens)
        return self.embed.attend(self.norm(x + self.attention(x, x)))

    def embedded(self, tokens: jax.Array) -> jax.Array:
        return self.embed(tokens)


class Step(nn.Module):
    width: int

    @nn.compact
    def __call__(self, carry: jax.Array, _: None) -> tuple[jax.Array, None]:
        return carry + nn.tanh(nn.Dense(self.width)(carry)), None


class Deep(nn.Module):
    width: int
    depth: int

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        steps = nn.scan(
            Step, variable_axes={"params": 0}, split_rngs={"params": True}, length=self.depth
        )
        x, _ = steps(self.width, name="steps")(x, None)
        return x


class Scaled(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        scale = self.param("scale", nn.initializers.ones, (x.shape[-1],))
        counter = self.variable("counters", "calls", lambda: jnp.zeros((), jnp.int32))
        if self.is_mutable_collection("counters") and not self.is_initializing():
            counter.value = counter.value + 1
        return x * scale[None]


class Noisy(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array, deterministic: bool = False) -> dict[str, jax.Array]:
        hidden = nn.Dense(8)(x)
        dropped = nn.Dropout(0.5)(hidden, deterministic=deterministic)
        return {"hidden": hidden, "dropped": dropped}


class Wrapper(nn.Module):
    inner: nn.Module
    others: Sequence[nn.Module] = ()

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        x = self.inner(nn.Dense(7)(x))
        for other in self.others:
            x = other(x)
        return x


@dataclasses.dataclass
class Encoded:
    mean: jax.Array
    spread: jax.Array


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, inputs: dict[str, jax.Array]) -> Encoded:
        x = inputs["image"]
        self.sow("intermediates", "seen", x)
        return Encoded(nn.Dense(2)(x), jnp.exp(nn.Dense(2)(x)))


class Memory(nn.Module):
    @nn.compact
    def __call__(self, xs: jax.Array) -> Any:
        return nn.RNN(nn.OptimizedLSTMCell(3))(xs)


class Branches(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array, extra: bool = False) -> jax.Array:
        y = nn.Dense(3, name="always")(x)
        if extra:
            y = y + nn.Dense(3, name="sometimes")(x)
        return y


class Collects(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array, seen: dict[str, jax.Array]) -> jax.Array:
        seen["hidden"] = nn.Dense(3)(x)
        return nn.tanh(seen["hidden"])


class ByMode(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        is_training = self.is_mutable_collection("batch_stats")
        y = nn.BatchNorm(use_running_average=not is_training)(x)
        return y if is_training else 2.0 * y
