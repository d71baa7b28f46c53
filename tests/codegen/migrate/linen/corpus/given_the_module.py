"""Functions that are given the module itself: they declare, build and sow for it."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


def log(self, value, name):
    self.sow("intermediates", name, jnp.mean(value))


def scaled(module, x, name="scale"):
    scale = module.param(name, nn.initializers.ones, (x.shape[-1],))
    return x * scale


def noisy(layer, x, training):
    if not training:
        return x
    return x + jnp.zeros_like(x) * layer.make_rng("dropout").shape[-1]


class Twice(nn.Module):
    @nn.compact
    def __call__(self, x, training=False):
        x = scaled(self, x, name="first")
        x = noisy(self, x, training)
        x = nn.Dense(4)(x)
        log(self, x, name="mean_of_second")
        return scaled(self, x, name="second")


class InSetup(nn.Module):
    def setup(self):
        self.gain = self.param("gain", nn.initializers.ones, (4,))
        self.dense = nn.Dense(4)

    def __call__(self, x):
        x = self.dense(x) * self.gain
        log(self, x, "mean")
        return x


X = jnp.linspace(-1.0, 1.0, 24).reshape(6, 4)

EXAMPLES = [
    Example(Build("Twice"), X),
    Example(Build("InSetup"), X),
]
