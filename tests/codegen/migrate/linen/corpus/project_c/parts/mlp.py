"""A module that its package hides."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class MLP(nn.Module):
    width: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(nn.relu(nn.Dense(2 * self.width)(x)))


def mlp(x):
    return nn.tanh(x)


EXAMPLES = [Example(Build("MLP"), jnp.sin(jnp.arange(18.0)).reshape(3, 6))]
