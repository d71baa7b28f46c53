"""Lists of layers of which all but the last one, or lists one after the other, are called in a loop."""

from collections.abc import Sequence

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class LastApart(nn.Module):
    """The last layer has no activation."""

    features: Sequence[int]

    def setup(self):
        self.layers = [nn.Dense(size) for size in self.features]

    def __call__(self, inputs):
        x = inputs
        for layer in self.layers[:-1]:
            x = nn.relu(layer(x))
        return self.layers[-1](x)


class LastByPlace(nn.Module):
    """The same, with places in the list."""

    features: Sequence[int]

    def setup(self):
        self.layers = [nn.Dense(size) for size in self.features]

    def __call__(self, x):
        for k in range(len(self.layers) - 1):
            x = nn.relu(self.layers[k](x))
        return self.layers[-1](x)


class OneNormLess(nn.Module):
    """A norm goes with each layer but the last one."""

    features: Sequence[int]

    def setup(self):
        self.layers = [nn.Dense(size) for size in self.features]
        self.norms = [nn.LayerNorm() for size in self.features[:-1]]
        self.head = nn.Dense(3)

    def __call__(self, x):
        for _, (layer, norm) in enumerate(zip(self.layers[:-1], self.norms, strict=True)):
            x = nn.relu(norm(layer(x)))
        x = self.layers[-1](x)
        return self.head(x)


class SizesOfEnds(nn.Module):
    """What the last layers return has a size that the next ones need."""

    features: Sequence[int]

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(7)(OneNormLess(self.features)(x))
        return nn.Dense(2)(LastApart(self.features)(x))


class BeforeTheEnd(nn.Module):
    """A layer of its own is called before the last one: its size is that before the last one."""

    features: Sequence[int]

    def setup(self):
        self.layers = [nn.Dense(size) for size in self.features]
        self.head = nn.Dense(3)

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = nn.relu(layer(x))
        return self.head(x), self.layers[-1](x)


class OtherLast(nn.Module):
    """A layer that is not the last one is called after the others."""

    features: Sequence[int] = (4, 6, 4, 6)

    def setup(self):
        self.layers = [nn.Dense(size) for size in self.features]

    def __call__(self, x):
        for layer in self.layers[:-2]:
            x = nn.relu(layer(x))
        return self.layers[-2](x), self.layers[-1](x)


class Summed(nn.Module):
    """A list is the sum of several."""

    features: Sequence[int]
    classes: int = 3

    def setup(self):
        self.layers = (
            [nn.Dense(5)] + [nn.Dense(size) for size in self.features] + [nn.Dense(self.classes)]
        )

    def __call__(self, x):
        for k, layer in enumerate(self.layers):
            x = layer(x) + k
        return x


class SummedOfOneSize(nn.Module):
    """The same, where no size runs; and a sum of tuples."""

    depth: int = 2

    def setup(self):
        self.layers = [nn.Dense(5)] + [nn.Dense(5) for _ in range(self.depth)] + [nn.Dense(4)]
        self.more = (nn.Dense(5),) + (nn.Dense(6),)

    def __call__(self, x):
        for layer in self.layers:
            x = nn.relu(layer(x))
        for layer in self.more:
            x = layer(x)
        return x


class LastBehindStar(nn.Module):
    """A star in front of the last size, or behind the first one."""

    features: Sequence[int]
    starts: bool = False

    @nn.compact
    def __call__(self, x):
        if self.starts:
            size, *sizes = self.features
            x = nn.relu(nn.Dense(size, name="start")(x))
        *sizes, last = self.features
        for size in sizes:
            x = nn.relu(nn.Dense(size)(x))
        return nn.Dense(last)(x)


class FirstBeforeStar(nn.Module):
    features: Sequence[int]

    @nn.compact
    def __call__(self, x):
        first, *others = self.features
        x = nn.Dense(first)(x)
        for size in others:
            x = nn.Dense(size)(nn.relu(x))
        return x


X = jnp.linspace(-1.0, 1.0, 6).reshape(2, 3)
FEATURES = (4, 8, 5)

EXAMPLES = [
    *(Example(Build(name, FEATURES), X) for name in ("LastApart", "LastByPlace", "OneNormLess")),
    *(Example(Build(name, (6,)), X) for name in ("LastApart", "LastByPlace", "OneNormLess")),
    *(Example(Build(name, FEATURES), X) for name in ("SizesOfEnds", "BeforeTheEnd", "Summed")),
    Example(Build("Summed", ()), X),
    *(Example(Build(name, FEATURES), X) for name in ("LastBehindStar", "FirstBeforeStar")),
    *(Example(Build(name, (6,)), X) for name in ("LastBehindStar", "FirstBeforeStar")),
    Example(Build("LastBehindStar", FEATURES, starts=True), X),
    *(Example(Build(name), X) for name in ("OtherLast", "SummedOfOneSize")),
]
