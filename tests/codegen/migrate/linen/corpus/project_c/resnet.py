"""Blocks that another file makes partials of, and derives from."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

if TYPE_CHECKING:
    from .aliases import Shape

ModuleDef = Any
WIDTH = 3


class ResidualBlock(nn.Module):
    filters: int
    conv: ModuleDef = nn.Conv
    act: Callable = nn.relu
    strides: "Shape" = (1, 1)

    @nn.compact
    def __call__(self, x):
        y = self.conv(self.filters, (3, 3), self.strides)(x)
        y = self.act(y)
        y = self.conv(self.filters, (WIDTH, WIDTH))(y)
        if x.shape != y.shape:
            x = self.conv(self.filters, (1, 1), self.strides, name="proj")(x)
        return x + y


class Stem(nn.Module):
    filters: int = 4

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Conv(self.filters, (3, 3), name="conv")(x))


IMAGE = jnp.sin(jnp.arange(2 * 8 * 8 * 4.0)).reshape(2, 8, 8, 4)

EXAMPLES = [
    Example(Build("ResidualBlock", 4), IMAGE),
    Example(Build("ResidualBlock", 8, strides=(2, 2)), IMAGE),
    Example(Build("Stem"), IMAGE),
]
