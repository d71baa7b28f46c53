"""The models of linen_models.py, migrated by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

import typed_nnx as nnx


def squared(x: jax.Array) -> jax.Array:
    return x * x


class Counter(nnx.Variable[Any]):
    pass


class MLP(nnx.Module):
    def __init__(
        self,
        features: Sequence[int],
        act: Callable[[jax.Array], jax.Array] = nnx.relu,
        *,
        in_features: int,
        rngs: nnx.Rngs,
    ) -> None:
        self.act = act
        self.layers: nnx.List[nnx.Linear] = nnx.List([])
        for width in features[:-1]:
            self.layers.append(nnx.Linear(in_features, width, rngs=rngs))
            in_features = width
        self.head = nnx.Linear(in_features, features[-1], rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        for layer in self.layers:
            x = self.act(layer(x))
        return self.head(x)


class ConvNet(nnx.Module):
    def __init__(self, classes: int, *, images_shape: tuple[int, ...], rngs: nnx.Rngs) -> None:
        self.conv = nnx.Conv(images_shape[-1], 4, (3, 3), use_bias=False, rngs=rngs)
        self.norm = nnx.BatchNorm(4, momentum=0.9, rngs=rngs)
        self.dense = nnx.Linear(images_shape[1] * images_shape[2] * 4, classes, rngs=rngs)

    def __call__(self, images: jax.Array, train: bool = False) -> jax.Array:
        x = self.norm(self.conv(images), use_running_average=not train)
        x = nnx.relu(x).reshape((x.shape[0], -1))
        return self.dense(x)


class Reader(nnx.Module):
    def __init__(self, words: int, width: int, *, rngs: nnx.Rngs) -> None:
        self.embed = nnx.Embed(words, width, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(2, width, decode=False, rngs=rngs)
        self.norm = nnx.LayerNorm(width, rngs=rngs)

    def __call__(self, tokens: jax.Array) -> jax.Array:
        x = self.embed(tokens)
        return self.embed.attend(self.norm(x + self.attention(x, x)))

    def embedded(self, tokens: jax.Array) -> jax.Array:
        return self.embed(tokens)


class Step(nnx.Module):
    def __init__(self, width: int, *, in_features: int, rngs: nnx.Rngs) -> None:
        self.dense = nnx.Linear(in_features, width, rngs=rngs)

    def __call__(self, carry: jax.Array, _: None) -> tuple[jax.Array, None]:
        return carry + nnx.tanh(self.dense(carry)), None


class Deep(nnx.Module):
    def __init__(self, width: int, depth: int, *, in_features: int, rngs: nnx.Rngs) -> None:
        self.steps = nnx.List([Step(width, in_features=width, rngs=rngs) for _ in range(depth)])

    def __call__(self, x: jax.Array) -> jax.Array:
        for step in self.steps:
            x, _ = step(x, None)
        return x


class Scaled(nnx.Module):
    def __init__(self, *, in_features: int, rngs: nnx.Rngs) -> None:
        self.weight = nnx.Param(jnp.ones((in_features,)))
        self.calls = Counter(jnp.zeros((), jnp.int32))

    def __call__(self, x: jax.Array) -> jax.Array:
        self.calls[...] = self.calls[...] + 1
        return x * self.weight[...][None]


class Noisy(nnx.Module):
    def __init__(self, *, in_features: int, rngs: nnx.Rngs) -> None:
        self.dense = nnx.Linear(in_features, 8, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x: jax.Array, deterministic: bool = False) -> dict[str, jax.Array]:
        hidden = self.dense(x)
        return {"hidden": hidden, "dropped": self.dropout(hidden, deterministic=deterministic)}


class Wrapper(nnx.Module):
    def __init__(
        self, inner: Any, others: Sequence[Any] = (), *, in_features: int, rngs: nnx.Rngs
    ) -> None:
        self.first = nnx.Linear(in_features, 7, rngs=rngs)
        self.inner = inner
        self.others = nnx.List(others)

    def __call__(self, x: jax.Array) -> jax.Array:
        x = self.inner(self.first(x))
        for other in self.others:
            x = other(x)
        return x


@dataclasses.dataclass
class Encoded:
    mean: jax.Array
    spread: jax.Array


class Encoder(nnx.Module):
    def __init__(self, *, in_features: int, rngs: nnx.Rngs) -> None:
        self.mean = nnx.Linear(in_features, 2, rngs=rngs)
        self.spread = nnx.Linear(in_features, 2, rngs=rngs)

    def __call__(self, inputs: dict[str, jax.Array]) -> Encoded:
        x = inputs["image"]
        self.sow(nnx.Intermediate, "seen", x)
        return Encoded(self.mean(x), jnp.exp(self.spread(x)))


class Memory(nnx.Module):
    def __init__(self, *, in_features: int, rngs: nnx.Rngs) -> None:
        self.rnn = nnx.RNN(nnx.OptimizedLSTMCell(in_features, 3, rngs=rngs), rngs=rngs)

    def __call__(self, xs: jax.Array) -> Any:
        return self.rnn(xs)


class Branches(nnx.Module):
    def __init__(self, *, in_features: int, rngs: nnx.Rngs) -> None:
        self.always = nnx.Linear(in_features, 3, rngs=rngs)
        self.sometimes = nnx.Linear(in_features, 3, rngs=rngs)

    def __call__(self, x: jax.Array, extra: bool = False) -> jax.Array:
        y = self.always(x)
        if extra:
            y = y + self.sometimes(x)
        return y


class Collects(nnx.Module):
    def __init__(self, *, in_features: int, rngs: nnx.Rngs) -> None:
        self.dense = nnx.Linear(in_features, 3, rngs=rngs)

    def __call__(self, x: jax.Array, seen: dict[str, jax.Array]) -> jax.Array:
        seen["hidden"] = self.dense(x)
        return nnx.tanh(seen["hidden"])


class ByMode(nnx.Module):
    def __init__(self, *, in_features: int, rngs: nnx.Rngs) -> None:
        self.use_running_average = False
        self.norm = nnx.BatchNorm(in_features, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        y = self.norm(x, use_running_average=self.use_running_average)
        return 2.0 * y if self.use_running_average else y
