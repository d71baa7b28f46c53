"""Collections of variables: what is counted, averaged, cached, sown and perturbed."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class OwnBatchNorm(nn.Module):
    """A normalisation as people write it by hand."""

    momentum: float = 0.9

    @nn.compact
    def __call__(self, x, train: bool):
        ra_mean = self.variable("batch_stats", "mean", jnp.zeros, x.shape[-1])
        ra_var = self.variable("batch_stats", "var", lambda s: jnp.ones(s), x.shape[-1:])
        if train:
            mean, var = x.mean(0), x.var(0)
            if not self.is_initializing():
                ra_mean.value = self.momentum * ra_mean.value + (1 - self.momentum) * mean
                ra_var.value *= self.momentum
                ra_var.value += (1 - self.momentum) * var
        else:
            mean, var = ra_mean.value, ra_var.value
        scale = self.param("scale", nn.initializers.ones, (x.shape[-1],))
        return (x - mean) * jax.lax.rsqrt(var + 1e-5) * scale


class GrowsAndChangesType(nn.Module):
    """Linen replaces the value, whatever its dtype."""

    @nn.compact
    def __call__(self, x):
        seen = self.variable("seen", "total", lambda: jnp.zeros((), jnp.int32))
        parts = self.variable("seen", "parts", lambda: {"low": jnp.zeros(2), "high": jnp.ones(2)})
        if not self.is_initializing():
            seen.value = seen.value + x.sum()
            parts.value = {"low": parts.value["high"], "high": parts.value["low"] + 1.0}
        return x + parts.value["low"].sum()


class KeyValueCache(nn.Module):
    """Whether the cache is there says whether it is the first call."""

    length: int

    @nn.compact
    def __call__(self, x):
        there = self.has_variable("cache", "memory")
        memory = self.variable(
            "cache", "memory", jnp.zeros, (x.shape[0], self.length, x.shape[-1]), x.dtype
        )
        place = self.variable("cache", "place", lambda: jnp.array(0, jnp.int32))
        if there:
            memory.value = jax.lax.dynamic_update_slice(memory.value, x, (0, place.value, 0))
            place.value = place.value + x.shape[1]
        return memory.value


class CounterInSetup(nn.Module):
    step: int = 1

    def setup(self):
        self.count = self.variable("counts", "calls", lambda: jnp.zeros((), jnp.int32))
        self.dense = nn.Dense(2)

    def __call__(self, x):
        if not self.is_initializing():
            self.count.value += self.step
        return self.dense(x) * self.count.value


class Holder(nn.Module):
    """The collections of a submodule lie below its name."""

    @nn.compact
    def __call__(self, x, train: bool = True):
        for _ in range(2):
            x = OwnBatchNorm()(nn.Dense(3)(x), train)
        return CounterInSetup(2, name="counter")(x)


class Sown(nn.Module):
    features: int = 3

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(self.features)(x)
        self.sow("intermediates", "features", h)
        return nn.tanh(h)


class Streams(nn.Module):
    rate: float = 0.5

    @nn.compact
    def __call__(self, x, noisy: bool = False):
        if self.has_rng("noise"):
            x = x + jax.random.normal(self.make_rng("noise"), x.shape)
        if noisy:
            keep = jax.random.bernoulli(self.make_rng("dropout"), self.rate, x.shape)
            x = jnp.where(keep, x, 0.0)
        return nn.Dense(2)(x)


class CachedHeads(nn.Module):
    """The cache of the library is made in NNX by a method."""

    decode: bool = False

    @nn.compact
    def __call__(self, x):
        return nn.SelfAttention(2, decode=self.decode)(x)


X = jnp.sin(jnp.arange(8.0)).reshape(2, 4)
TOKEN = jnp.cos(jnp.arange(8.0)).reshape(2, 1, 4)
STATS = ("batch_stats",)

EXAMPLES = [
    Example(Build("OwnBatchNorm"), X, train=True, mutable=STATS),
    Example(Build("OwnBatchNorm"), X, train=False),
    Example(Build("GrowsAndChangesType"), X, mutable=("seen",)),
    Example(Build("KeyValueCache", 5), TOKEN, mutable=("cache",)),
    Example(Build("CounterInSetup", 3), X, mutable=("counts",)),
    Example(Build("Holder"), X, mutable=("batch_stats", "counts")),
    Example(Build("Sown"), X, mutable=("intermediates",)),
    Example(Build("Streams"), X),
    Example(Build("Streams"), X, noisy=True, rngs=("dropout", "noise"), name="random"),
    Example(Build("CachedHeads"), X[:, None]),
    Example(Build("CachedHeads", decode=True), TOKEN, mutable=("cache",)),
]
