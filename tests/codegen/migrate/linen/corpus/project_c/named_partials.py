"""Partials of modules, which other files import by name."""

import functools

import flax.linen as nn
import jax

WIDTH = 2.5


def soft(x):
    return jax.nn.softplus(x) - 0.5


class Scaled(nn.Module):
    features: int
    scale: float = 1.0
    act: object = nn.relu

    @nn.compact
    def __call__(self, x):
        return self.act(self.scale * nn.Dense(self.features)(x))


Twice = functools.partial(Scaled, scale=WIDTH, act=soft)
Four = functools.partial(Scaled, 4)
