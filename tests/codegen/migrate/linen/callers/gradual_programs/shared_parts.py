"""A module that cannot be migrated, and is given a layer of the one around it."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class Halved(nn.Module):
    width: int
    first: nn.Module

    @nn.compact
    def __call__(self, x):
        x = self.first(x)
        width = self.width
        while width > 1:
            x = nn.Dense(4)(x)
            width //= 2
        return x


class Around(nn.Module):
    shares: bool = True

    def setup(self):
        self.norm = nn.LayerNorm() if self.shares else None
        self.halved = Halved(4, first=self.norm)

    def __call__(self, x):
        return self.halved(self.norm(x))


class Other(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(x)


def run():
    x = jnp.sin(jnp.arange(6.0)).reshape(2, 3)
    models = [Around(), Other()]
    return [jax.jit(one.apply)(one.init(jax.random.key(0), x), x) for one in models]
