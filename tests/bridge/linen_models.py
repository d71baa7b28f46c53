"""Linen modules that the tests wrap."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

X = jnp.linspace(-1.0, 1.0, 6).reshape(2, 3)


class Everything(nn.Module):
    """Submodules, statistics, dropout, a counter, a tree, sown values and a second method."""

    @nn.compact
    def __call__(self, x: jax.Array, train: bool = False, *, scale: float = 1.0) -> Any:
        x = nn.Dense(4, name="dense")(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.Dropout(0.5, deterministic=not train)(x)
        self.sow("intermediates", "seen", x)
        count = self.variable("counts", "n", lambda: jnp.zeros((), jnp.int32))
        self.variable("trees", "tree", lambda: {"a": jnp.ones(1), "b": (jnp.ones(2), 3.0)})
        if self.is_mutable_collection("counts"):
            count.value = count.value + 1
        return x * scale

    def double(self, x: jax.Array) -> jax.Array:
        return x * 2

    def refuse(self, x: jax.Array) -> jax.Array:
        raise RuntimeError("refused")


class TwoParts(nn.Module):
    """A module whose methods use different parts of it."""

    def setup(self) -> None:
        self.a = nn.Dense(2)
        self.b = nn.Dense(3)

    def __call__(self, x: jax.Array) -> Any:
        return self.a(x)

    def other(self, x: jax.Array) -> Any:
        return self.b(x)


class Streams(nn.Module):
    """A module that returns a key of each stream it has."""

    @nn.compact
    def __call__(self, x: jax.Array) -> dict[str, Any]:
        names = ("params", "dropout", "default", "noise")
        return {name: self.make_rng(name) for name in names if self.has_rng(name)}


class TwoCollections(nn.Module):
    """Two collections with a variable of one name, which Linen allows."""

    @nn.compact
    def __call__(self, x: jax.Array) -> Any:
        return (
            x
            + self.param("w", nn.initializers.ones, (1, 3))
            + self.variable("state", "w", jnp.zeros, (1, 3)).value
        )


class NamedModule(nn.Module):
    """A parameter with the name of a part of ToNNX."""

    @nn.compact
    def __call__(self, x: jax.Array) -> Any:
        return x + self.param("module", nn.initializers.ones, (1, 3))
