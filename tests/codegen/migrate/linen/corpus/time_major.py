"""Arrays whose first two axes change places: what is behind them stays."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class HeadsFirst(nn.Module):
    """Heads of attention before the rows, and behind them again."""

    heads: int = 2
    width: int = 8

    @nn.compact
    def __call__(self, x):
        value = nn.DenseGeneral(features=(self.heads, self.width // self.heads))(x)
        mixed = jnp.matmul(jnp.ones((self.heads, 5, 5)), jnp.swapaxes(value, 0, 1))
        mixed = jnp.swapaxes(mixed, 0, 1)
        return nn.DenseGeneral(3, axis=(-2, -1))(mixed)


class TimeFirst(nn.Module):
    """Time before the batch, by each of the functions."""

    width: int = 4

    @nn.compact
    def __call__(self, x):
        y = jnp.swapaxes(nn.Dense(self.width)(x), 0, 1)
        y = jnp.moveaxis(nn.Dense(self.width + 1)(y), 1, 0)
        y = nn.Dense(self.width + 2)(y).swapaxes(0, 1)
        return nn.LayerNorm()(y)


EXAMPLES = [
    Example(Build("HeadsFirst"), jnp.sin(jnp.arange(30.0)).reshape(5, 6)),
    Example(Build("TimeFirst"), jnp.sin(jnp.arange(60.0)).reshape(2, 5, 6)),
    Example(Build("TimeFirst", width=6), jnp.sin(jnp.arange(72.0)).reshape(3, 4, 6)),
]
