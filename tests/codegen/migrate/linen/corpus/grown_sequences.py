"""`nn.Sequential` of lists that loops fill, in `setup` and in compact methods."""

from collections.abc import Callable

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


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


def make_layers(depth, hidden, act):
    layers = []
    for _ in range(depth):
        layers.append(nn.Dense(hidden))
        layers.append(act)
    return nn.Sequential(layers)


class FilledByFunctions(nn.Module):
    depth: int = 2
    hidden: int = 6

    def setup(self):
        self.net = nn.Sequential(
            [
                make_layers(self.depth, self.hidden, nn.tanh),
                nn.Dense(5),
                make_layers(2, 4, nn.relu),
                nn.Dense(3),
            ]
        )

    def __call__(self, x):
        return self.net(x)


class WithArgumentCompact(nn.Module):
    @nn.compact
    def __call__(self, x, scale):
        y = nn.Sequential(layers=[nn.Dense(6), lambda h: h * scale, nn.Dense(4)])(x)
        return nn.Sequential([nn.Dense(5), nn.relu])(y)


class OfComprehension(nn.Module):
    depth: int = 3

    def setup(self):
        self.net = nn.Sequential([nn.Dense(4) for _ in range(self.depth)])
        self.more = nn.Sequential([*[nn.Dense(5) for _ in range(self.depth)], nn.Dense(2)])

    def __call__(self, x):
        return self.more(self.net(x))


class ListsInSetup(nn.Module):
    depths: tuple[int, ...]
    widths: tuple[int, ...]

    def setup(self):
        self.stages = [
            [nn.Dense(w) for _ in range(n)] for n, w in zip(self.depths, self.widths, strict=True)
        ]

    def __call__(self, x):
        for stage in self.stages:
            for layer in stage:
                x = nn.relu(layer(x))
        return x


class AppendedListsInSetup(nn.Module):
    depths: tuple[int, ...]
    widths: tuple[int, ...]

    def setup(self):
        stages = []
        for n, w in zip(self.depths, self.widths, strict=True):
            stages.append([nn.Dense(w) for _ in range(n)])
        self.stages = stages

    def __call__(self, x):
        for stage in self.stages:
            for layer in stage:
                x = nn.relu(layer(x))
        return x


class BetweenOthers(nn.Module):
    depth: int = 3

    def setup(self):
        first = nn.Sequential([nn.Dense(5), nn.relu])
        self.net = nn.Sequential([first, *[nn.Dense(4) for _ in range(self.depth)], nn.Dense(2)])

    def __call__(self, x):
        return self.net(x)


X = jnp.linspace(-1.0, 1.0, 24).reshape(6, 4)

EXAMPLES = [
    Example(Build("LastWithoutActivation", (5, 6)), X),
    Example(Build("LastWithoutActivation", (5,), nn.relu, last=3), X),
    Example(Build("NamedItems", (5, 6)), X),
    Example(Build("SharedByTwo", (5, 6)), X),
    Example(Build("FilledByFunctions"), X),
    Example(Build("FilledByFunctions", 1), X),
    Example(Build("WithArgumentCompact"), X, 2.0),
    Example(Build("OfComprehension"), X),
    Example(Build("ListsInSetup", (2, 1, 3), (5, 6, 3)), X),
    Example(Build("AppendedListsInSetup", (2, 1, 3), (5, 6, 3)), X),
    Example(Build("BetweenOthers"), X),
]
