"""Linen classes and their NNX classes in each runtime, for tests of the loader."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from tests.codegen.migrate.linen.weights.perturbed import perturbed

ROWS = jax.random.normal(jax.random.key(1), (2, 5))


class LinenBlock(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        x = nn.Dense(self.width)(x)
        return nn.BatchNorm(use_running_average=True)(x)


class LinenNet(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        for _ in range(2):
            x = LinenBlock(3)(x)
        gain = self.param("gain", nn.initializers.ones, (3,))
        return nn.Dense(4, name="head")(x * gain[None])


MAP: dict[str, Any] = {
    "classes": {
        "Block": {
            "variables": {
                "params/Dense_0/kernel": "dense.kernel",
                "params/Dense_0/bias": "dense.bias",
                "params/BatchNorm_0": "norm",
                "batch_stats/BatchNorm_0": "norm",
            }
        },
        "Net": {
            "variables": {
                "params/LinenBlock_{i}": "blocks.{i}",
                "params/gain": "gain",
                "params/head/{name}": "head.{name}",
            }
        },
    }
}


def classes(nnx: Any) -> SimpleNamespace:
    """Return the migrated classes in a runtime."""

    class Block(nnx.Module):
        def __init__(self, width: int, *, in_features: int, rngs: Any) -> None:
            self.dense = nnx.Linear(in_features, width, rngs=rngs)
            self.norm = nnx.BatchNorm(width, use_running_average=True, rngs=rngs)

        def __call__(self, x: jax.Array) -> Any:
            return self.norm(self.dense(x))

    class Net(nnx.Module):
        def __init__(self, *, in_features: int, rngs: Any) -> None:
            self.blocks = nnx.List(
                [Block(3, in_features=in_features, rngs=rngs), Block(3, in_features=3, rngs=rngs)]
            )
            self.gain = nnx.Param(jnp.ones((3,)))
            self.head = nnx.Linear(3, 4, rngs=rngs)
            self.dropout = nnx.Dropout(0.5, rngs=rngs)

        def __call__(self, x: jax.Array) -> Any:
            for block in self.blocks:
                x = block(x)
            return self.head(x * self.gain[...][None])

    return SimpleNamespace(Block=Block, Net=Net)


def linen_variables() -> dict[str, Any]:
    return dict(perturbed(LinenNet().init(jax.random.key(0), ROWS)))


def new_net(nnx: Any, width: int = 5) -> Any:
    return classes(nnx).Net(in_features=width, rngs=nnx.Rngs(0))


def entries(**variables: Any) -> dict[str, Any]:
    """Return a map for a class `Model` with entries."""
    return {"classes": {"Model": {"variables": variables}}}


def model_with(nnx: Any, **attributes: Any) -> Any:
    class Model(nnx.Module):
        def __init__(self) -> None:
            for name, value in attributes.items():
                setattr(self, name, value)

    return Model()
