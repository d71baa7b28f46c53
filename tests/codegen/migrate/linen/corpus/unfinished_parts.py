"""Modules that construct one with a marker: they have one too."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class ByMode(nn.Module):
    """What it computes depends on which collections are mutable."""

    @nn.compact
    def __call__(self, x):
        is_counted = self.is_mutable_collection("counters")
        return nn.BatchNorm(use_running_average=False)(x) + is_counted


class HoldsByMode(nn.Module):
    features: int = 3

    def setup(self):
        self.dense = nn.Dense(self.features)
        self.norm = ByMode()

    def __call__(self, x):
        return self.norm(self.dense(x))


class HoldsTheHolder(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.relu(HoldsByMode(4)(x))


class TakesSkips(nn.Module):
    """The loop takes one array after the other, and no size of them is known."""

    widths: tuple[int, ...] = (3, 4)

    @nn.compact
    def __call__(self, x, skips):
        for width in self.widths:
            last = skips[-1]
            skips = skips[:-1]
            x = nn.Dense(width)(jnp.concatenate((x, last), axis=-1))
        return x


class TakesRows(nn.Module):
    """An array of which one row after the other goes: the layer is called with the same sizes."""

    steps: int = 2

    @nn.compact
    def __call__(self, x, rows):
        dense = nn.Dense(x.shape[-1])
        for _ in range(self.steps):
            x = x + dense(x) + rows[0]
            rows = rows[1:]
        return x


class BeginsWithInput(nn.Module):
    """Its first value is that of an input: a marker says so, and loaded weights replace it."""

    @nn.compact
    def __call__(self, x):
        return x * self.param("scale", lambda _: x[0] + 1.0)


class CenteredByStats(nn.Module):
    """Linen changes the statistics where they are mutable, and a mode of NNX does not name them."""

    @nn.compact
    def __call__(self, x):
        mean = self.variable("stats", "mean", lambda: jnp.zeros(x.shape[-1]))
        x = nn.Dense(x.shape[-1])(x) - mean.value
        if self.is_mutable_collection("stats"):
            mean.value = 0.9 * mean.value + 0.1 * x.mean(0)
        return x


X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
EXAMPLES = [
    Example(Build("HoldsByMode"), X, mutable=("batch_stats",)),
    Example(Build("HoldsTheHolder"), X, mutable=("batch_stats",)),
    Example(Build("TakesSkips"), X, (X[:, :2], X[:, :3])),
    Example(Build("TakesRows"), X, X),
    Example(Build("ByMode"), X, mutable=("batch_stats",)),
    Example(Build("BeginsWithInput"), X),
    Example(Build("CenteredByStats"), X, mutable=("stats",)),
]
