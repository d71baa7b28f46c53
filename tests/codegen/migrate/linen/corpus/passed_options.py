"""Mappings of settings in fields, which submodules are constructed with."""

from collections.abc import Mapping
from typing import Any

import flax.linen as nn


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


class ConfiguredConv(nn.Module):
    """The settings of a convolution decide the shape of its output."""

    options: Mapping[str, Any]

    @nn.compact
    def __call__(self, x):
        return nn.Conv(3, (3, 3), **self.options)(x)
