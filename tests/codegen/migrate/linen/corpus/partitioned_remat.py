"""The two functions that Linen calls `remat`."""

import flax.linen as nn
import jax.numpy as jnp
from flax.linen import partitioning
from flax.linen import partitioning as nn_partitioning

from typed_nnx_codegen.verify.examples import Build, Example


class PlainGated(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x, scale, train: bool):
        y = nn.Dense(self.features)(x) * scale
        if train:
            y = y + 1.0
        return y


class RematOfPartitioning(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        block = nn_partitioning.remat(PlainGated, static_argnums=(2,))
        x = block(3)(x, 2.0, train)
        x = block(4, name="last")(x, 0.5, train)
        return PlainGated(2)(x, 1.0, train)


class OneStatic(nn.Module):
    def setup(self):
        self.blocks = [partitioning.remat(PlainGated, static_argnums=(2,))(3) for _ in range(2)]

    def __call__(self, x, train: bool = False):
        for block in self.blocks:
            x = block(x, 2.0, train)
        return x


X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
EXAMPLES = [
    Example(Build("PlainGated", 4), X, 2.0, train=True),
    Example(Build("RematOfPartitioning"), X, train=True),
    Example(Build("RematOfPartitioning"), X),
    Example(Build("OneStatic"), X, train=True),
    Example(Build("OneStatic"), X),
]
