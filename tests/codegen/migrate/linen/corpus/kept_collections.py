"""Collections of variables: what is counted, averaged, cached, sown and perturbed."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


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

EXAMPLES = [
    Example(Build("Sown"), X, mutable=("intermediates",)),
    Example(Build("Streams"), X),
    Example(Build("Streams"), X, noisy=True, rngs=("dropout", "noise"), name="random"),
    Example(Build("CachedHeads"), X[:, None]),
    Example(Build("CachedHeads", decode=True), TOKEN, mutable=("cache",)),
]
