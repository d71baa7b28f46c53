"""Modules that those of the other file inherit from."""

import flax.linen as nn
import jax.numpy as jnp
from jax.nn.initializers import zeros

from typed_nnx_codegen.verify.examples import Build, Example

WIDTH = 3


def checked(width):
    """Return a width that may be."""
    if width < 1:
        raise ValueError(width)
    return width


class Setting(tuple):
    """A type that only this file has."""


class Base(nn.Module):
    width: int = WIDTH
    kind: Setting | None = None
    bias_init: object = zeros

    def setup(self):
        width = checked(self.width)
        self.dense = nn.Dense(width, bias_init=self.bias_init)

    def __call__(self, x):
        return jnp.tanh(self.dense(x))


class ReadsItsFile(nn.Module):
    def setup(self):
        self.dense = nn.Dense(WIDTH)

    def __call__(self, x):
        return self.dense(x)


X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
EXAMPLES = [
    Example(Build("Base"), X),
    Example(Build("ReadsItsFile"), X),
]
