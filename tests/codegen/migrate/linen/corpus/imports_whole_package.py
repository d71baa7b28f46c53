"""Linen by its full name."""

import flax
import flax.linen
import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class FullNames(flax.linen.Module):
    features: int

    @flax.linen.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        x = flax.linen.Dense(self.features)(x)
        x = flax.linen.relu(x)
        return flax.linen.Dense(features=x.shape[-1] + 1)(x)


class FullNamesSetup(flax.linen.Module):
    features: int

    def setup(self):
        self.norm = flax.linen.LayerNorm()
        self.dense = flax.linen.Dense(self.features, kernel_init=jax.nn.initializers.he_normal())

    def __call__(self, x):
        return jnp.tanh(self.dense(self.norm(x)))


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("FullNames", 4), X),
    Example(Build("FullNamesSetup", 4), X),
]
