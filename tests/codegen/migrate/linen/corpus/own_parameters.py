"""Parameters with computed names and first values, and what is computed from them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class NamedInLoops(nn.Module):
    count: int

    @nn.compact
    def __call__(self, x):
        total = jnp.zeros_like(x)
        for i in range(self.count):
            total = total + x ** (i + 1) * self.param(
                f"power_{i}", nn.initializers.ones, x.shape[-1:]
            )
        shifts = [self.param(f"shift{i}", nn.initializers.normal(), (1,)) for i in range(2)]
        return total + shifts[0] * shifts[1]


class KeywordsAndTrees(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        def pair(key, shape, scale=1.0):
            one, other = jax.random.split(key)
            return {
                "mean": scale * jax.random.normal(one, shape),
                "spread": (jax.random.normal(other, shape), jnp.ones(shape)),
            }

        scale = self.param(name="scale", init_fn=lambda key: jnp.full((self.width,), 2.0))
        tree = self.param("tree", pair, (x.shape[-1], self.width), scale=0.3)
        bias = self.param("bias", self.start, self.width, unbox=False)
        return (x @ tree["mean"] + x @ (tree["spread"][0] * tree["spread"][1])) * scale + bias

    def start(self, key, width):
        return 0.1 * jax.random.normal(key, (width,))


class OneOrTheOther(nn.Module):
    """Both sides of a branch declare one parameter; the last one is there on one side alone."""

    rank: int = 0

    @nn.compact
    def __call__(self, x):
        if self.rank:
            weight = self.param("weight", nn.initializers.normal(), (x.shape[-1], self.rank))
            weight = weight @ self.param("low", nn.initializers.normal(), (self.rank, 3))
        else:
            weight = self.param("weight", nn.initializers.normal(), (x.shape[-1], 3))
        return x @ weight


class ComputedInSetup(nn.Module):
    """What `setup` computes from parameters follows them when they change."""

    dim: int

    def setup(self):
        raw = self.param("log_scale", nn.initializers.normal(1.0), (self.dim,))
        positive = jnp.exp(raw)
        self.scale = positive / positive.sum()
        self.weight = self.param("w", nn.initializers.normal(1.0), (self.dim, self.dim))
        self.symmetric = (self.weight + self.weight.T) / 2

    def __call__(self, x):
        return (x * self.scale) @ self.symmetric

    def norm(self, x):
        return jnp.linalg.norm(self.weight) * x


class NamedAxes(nn.Module):
    features: int
    kernel_init: Any = nn.with_partitioning(nn.initializers.normal(0.3), ("embed", None))

    @nn.compact
    def __call__(self, x):
        init = nn.with_logical_partitioning(nn.initializers.ones, ("mlp",))
        x = nn.Dense(self.features, kernel_init=self.kernel_init)(x)
        return x * self.param("scale", init, (self.features,))


X = jnp.sin(jnp.arange(8.0)).reshape(2, 4)

EXAMPLES = [
    Example(Build("NamedInLoops", 3), X),
    Example(Build("KeywordsAndTrees", 3), X),
    Example(Build("OneOrTheOther"), X),
    Example(Build("OneOrTheOther", 2), X),
    Example(Build("ComputedInSetup", 4), X),
    Example(Build("ComputedInSetup", 4), X, method="norm"),
    Example(Build("NamedAxes", 3), X),
]
