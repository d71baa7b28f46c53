"""What random modules use."""

from collections.abc import Callable

import flax.linen as nn

WIDTH = 6


def make_layers(width, depth):
    layers = []
    for _ in range(depth):
        layers += [nn.Dense(width), nn.relu]
    return nn.Sequential(layers)


def block_of(x, width, act=nn.relu, depth=1):
    for _ in range(depth):
        x = act(nn.Dense(width)(x))
    return x


def with_norm(x, use):
    if use:
        x = nn.LayerNorm()(x)
    return x


def norm_of(kind):
    return {"a": nn.LayerNorm, "b": nn.RMSNorm}[kind]


def bias_of(module, name, size):
    return module.param(name, nn.initializers.ones, (size,))


class Block(nn.Module):
    width: int
    act: Callable = nn.relu

    @nn.compact
    def __call__(self, x):
        return self.act(nn.Dense(self.width)(x))


class Scaled(nn.Module):
    inner: nn.Module
    by: float = 1.0

    @nn.compact
    def __call__(self, x):
        return self.inner(x) * self.by


class Twice(nn.Module):
    inner: nn.Module

    def __call__(self, x):
        return self.inner(self.inner(x))
