"""Mappings and tuples of settings in fields, which submodules are constructed with."""

from collections.abc import Mapping
from typing import Any

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Layers(nn.Module):
    width: int = 3
    depth: int = 1
    use_bias: bool = True

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = nn.tanh(nn.Dense(self.width, use_bias=self.use_bias)(x))
        return x


class Configured(nn.Module):
    """The size of what the configured module returns is asked of it."""

    layers: Mapping[str, Any]
    norm: Mapping[str, Any]

    @nn.compact
    def __call__(self, x):
        x = nn.LayerNorm(**self.norm)(x)
        x = nn.Dense(4, **self.norm)(x)
        x = Layers(**self.layers, depth=2, name="layers")(x)
        return nn.Dense(2)(x)


class ConfiguredInSetup(nn.Module):
    layers: Mapping[str, Any]

    def setup(self):
        self.first = Layers(2, **self.layers)
        self.last = nn.Dense(3)

    def __call__(self, x):
        return self.last(self.first(x))


class Starred(nn.Module):
    """A tuple in a field has the last settings of the other module."""

    sizes: tuple[int, ...]

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Layers(*self.sizes, use_bias=False)(x))


class ConfiguredConv(nn.Module):
    """The settings of a convolution decide the shape of its output."""

    options: Mapping[str, Any]

    @nn.compact
    def __call__(self, x):
        return nn.Conv(3, (3, 3), **self.options)(x)


X = jnp.sin(jnp.arange(10.0)).reshape(2, 5)
IMAGES = jnp.sin(jnp.arange(2 * 4 * 4 * 3.0)).reshape(2, 4, 4, 3)

EXAMPLES = [
    Example(Build("Configured", {}, {}), X),
    Example(Build("Configured", {"width": 5}, {"use_bias": False}), X),
    Example(Build("Layers", depth=2), X),
    Example(Build("ConfiguredInSetup", {"depth": 2, "use_bias": False}), X),
    Example(Build("Starred", (4, 2)), X),
    Example(Build("Starred", ()), X),
    Example(Build("ConfiguredConv", {"strides": 2}), IMAGES),
]
