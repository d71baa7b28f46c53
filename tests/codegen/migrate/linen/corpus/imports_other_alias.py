"""Linen under a name of the author's choice."""

import flax.linen as fnn
import jax.nn as jnn
import jax.numpy as jnp
from flax import linen

from typed_nnx_codegen.verify.examples import Build, Example

nn = linen


class OtherAlias(fnn.Module):
    features: int = 4

    @fnn.compact
    def __call__(self, x):
        x = fnn.Dense(self.features)(x)
        x = jnn.silu(linen.LayerNorm()(x))
        return nn.Dense(self.features)(x)


class MixedAlias(linen.Module):
    hidden: int

    def setup(self) -> None:
        self.net = linen.Sequential([fnn.Dense(self.hidden), jnn.relu, nn.Dense(1)])

    def __call__(self, x):
        return self.net(x)[..., 0]


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("OtherAlias"), X),
    Example(Build("MixedAlias", 4), X),
]
