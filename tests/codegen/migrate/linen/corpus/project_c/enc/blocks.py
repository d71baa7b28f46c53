"""A module whose name another package has, too."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

WIDTH = 5


class Block(nn.Module):
    width: int = WIDTH

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.width)(x))


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("Block"), X),
    Example(Build("Block", 3), X),
]
