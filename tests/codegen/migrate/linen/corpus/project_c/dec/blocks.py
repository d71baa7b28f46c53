"""A module whose name another package has, too."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

WIDTH = 7


class Block(nn.Module):
    width: int = WIDTH
    out: int = 2

    @nn.compact
    def __call__(self, x):
        x = nn.tanh(nn.Dense(self.width)(x))
        return nn.Dense(self.out)(x)


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("Block"), X),
    Example(Build("Block", 3), X),
]
