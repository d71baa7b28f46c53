"""Modules that are looked up by their names, and given to another one."""

import sys

import flax.linen as nn
import jax
import jax.numpy as jnp


class Mean(nn.Module):
    size: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.size)(x.mean(1))


class Last(nn.Module):
    size: int

    @nn.compact
    def __call__(self, x):
        return nn.tanh(nn.Dense(self.size)(x[:, -1]))


class Classifier(nn.Module):
    encoder: nn.Module
    classes: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.classes)(self.encoder(x))


def encoder_of(name):
    return getattr(sys.modules[__name__], name)


def run():
    x = jnp.cos(jnp.arange(24.0)).reshape(2, 4, 3)
    found = []
    for name in ("Mean", "Last"):
        made = encoder_of(name)(size=5)
        model = Classifier(encoder=made)
        variables = model.init(jax.random.key(3), x)
        found.append(model.apply(variables, x))
    return found
