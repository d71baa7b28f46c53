"""`nn.Sequential` of lists that loops fill, in `setup` and in compact methods."""

from collections.abc import Callable

import flax.linen as nn


class FilledInSetup(nn.Module):
    units: tuple[int, ...]

    def setup(self):
        layers = []
        for size in self.units:
            layers.append(nn.Dense(size))
            layers.append(nn.relu)
        self.net = nn.Sequential(layers)

    def __call__(self, x):
        return self.net(x)


class LastWithoutActivation(nn.Module):
    units: tuple[int, ...]
    act: Callable = nn.swish
    last: int = 0

    def setup(self):
        units = list(self.units)
        if self.last > 0:
            units += [self.last]
        layers = []
        for k, size in enumerate(units):
            layer = nn.Dense(size)
            layers.append(layer)
            if k < len(units) - 1:
                layers.append(self.act)
        self.net = nn.Sequential(layers)

    def __call__(self, x):
        return self.net(2 * x)


class ConvThenFlat(nn.Module):
    channels: tuple[int, ...]
    units: tuple[int, ...]

    def setup(self):
        layers = []
        for count in self.channels:
            layers.append(nn.Conv(count, (3, 3), strides=(2, 2)))
            layers.append(nn.relu)
        self.convs = nn.Sequential(layers)
        more = []
        for size in self.units:
            more.append(nn.Dense(size))
        self.head = nn.Sequential(more)

    def __call__(self, x):
        x = self.convs(x)
        x = x.reshape((x.shape[0], -1))
        return self.head(x)


class NamedItems(nn.Module):
    """The names count other than the places in the list."""

    units: tuple[int, ...]

    def setup(self):
        layers = []
        for k, size in enumerate(self.units):
            layers.append(nn.Dense(size, name=f"dense_{k}"))
            layers.append(nn.relu)
        self.net = nn.Sequential(layers)

    def __call__(self, x):
        return self.net(x)


class SharedByTwo(nn.Module):
    """Two stacks have the same layers."""

    units: tuple[int, ...]

    @nn.compact
    def __call__(self, x):
        layers = []
        for _ in self.units:
            layers.append(nn.Dense(4))
        one = nn.Sequential(layers)(x)
        layers.append(nn.Dense(4))
        return one + nn.Sequential(layers)(x)
