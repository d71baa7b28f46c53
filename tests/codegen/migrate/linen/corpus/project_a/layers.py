"""Layers that the other files of the project use."""

from typing import Callable, Sequence

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


def scaled_init(scale=1.0):
    return nn.initializers.variance_scaling(scale, "fan_avg", "uniform")


class ResidualMLP(nn.Module):
    """Projects to a width, then adds blocks to it."""

    width: int
    depth: int = 1
    activation: Callable = nn.swish

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width, kernel_init=scaled_init())(x)
        for _ in range(self.depth):
            y = nn.LayerNorm()(x)
            y = self.activation(nn.Dense(2 * self.width, kernel_init=scaled_init())(y))
            x = x + nn.Dense(self.width, kernel_init=scaled_init(0.1))(y)
        return x


class ConvStem(nn.Module):
    channels: Sequence[int]

    @nn.compact
    def __call__(self, images):
        x = images
        for c in self.channels:
            x = nn.relu(nn.Conv(c, (3, 3), strides=(2, 2))(x))
        return x


class SpatialSoftmax(nn.Module):
    """Expected coordinates of each channel."""

    temperature: float = 1.0

    @nn.compact
    def __call__(self, x):
        b, h, w, c = x.shape
        log_temperature = self.param("log_temperature", nn.initializers.zeros, (1,))
        flat = x.transpose(0, 3, 1, 2).reshape(b, c, h * w)
        weights = nn.softmax(flat / (self.temperature * jnp.exp(log_temperature)), axis=-1)
        ys, xs = jnp.meshgrid(jnp.linspace(-1, 1, h), jnp.linspace(-1, 1, w), indexing="ij")
        return jnp.concatenate([weights @ ys.reshape(-1), weights @ xs.reshape(-1)], axis=-1)


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("ResidualMLP", 4), X),
    Example(Build("ResidualMLP", width=4, depth=2), X),
    Example(Build("ConvStem", (3, 4)), IMAGES),
    Example(Build("SpatialSoftmax", temperature=0.5), IMAGES),
]
