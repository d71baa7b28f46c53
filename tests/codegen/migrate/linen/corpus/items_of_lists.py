"""Lists of `setup` whose items others are made of, or whose sizes others need."""

from collections.abc import Sequence

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Scale(nn.Module):
    size: int

    @nn.compact
    def __call__(self, x):
        return x * self.param("scale", nn.initializers.normal(1.0), (self.size,))


class Uses(nn.Module):
    width: int
    scale: Scale

    @nn.compact
    def __call__(self, x):
        return self.scale(nn.Dense(self.width)(x))


class SharedItems(nn.Module):
    """Items of one list are given to the items of another one."""

    sizes: Sequence[int] = (3, 4)

    def setup(self):
        self.scales = [Scale(size) for size in self.sizes]
        self.blocks = [
            Uses(self.sizes[k], self.scales[k], name=f"block_{k}") for k in range(len(self.sizes))
        ]

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x * jnp.sum(self.scales[0](jnp.ones((1, self.sizes[0]))))


class TurnedItems(nn.Module):
    """The items are given in another order."""

    sizes: Sequence[int] = (3, 3)

    def setup(self):
        self.scales = [Scale(size) for size in self.sizes]
        self.blocks = [Uses(3, self.scales[1 - k]) for k in range(2)]

    def __call__(self, x):
        return self.blocks[1](self.blocks[0](x))


class NamedItems(nn.Module):
    """The list goes over modules: a person must look."""

    sizes: Sequence[int] = (3, 4)

    def setup(self):
        self.scales = [Scale(size) for size in self.sizes]
        self.blocks = [Uses(scale.size, scale) for scale in self.scales]

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Told(nn.Module):
    """Nothing outside of it can say how many features it returns."""

    size: str = "4x2"

    @nn.compact
    def __call__(self, x):
        width = int(self.size.split("x")[0])
        for _ in range(2):
            x = nn.Dense(width)(x)
            width = width + 1
        return x


class Early(nn.Module):
    """What needs the size is built first."""

    size: str = "4x2"

    def setup(self):
        self.head = nn.Dense(3)
        self.body = Told(self.size)

    def __call__(self, x):
        return self.head(self.body(x))


class InLiteral(nn.Module):
    size: str = "4x2"

    def setup(self):
        self.parts = [Told(self.size), nn.Dense(3)]

    def __call__(self, x):
        return self.parts[1](self.parts[0](x))


class EarlyChain(nn.Module):
    """What needs the size that a list ends with is built before the list."""

    sizes: Sequence[str] = ("4x2", "3x1")

    def setup(self):
        self.head = nn.Dense(3)
        self.parts = [Told(one) for one in self.sizes]

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return self.head(x)


class FirstItem(nn.Module):
    """The size is that of one item of a list: a person must look."""

    sizes: Sequence[str] = ("4x2", "3x1")

    def setup(self):
        self.parts = [Told(one) for one in self.sizes]
        self.head = nn.Dense(3)

    def __call__(self, x):
        first, *rest = self.parts
        y = self.head(first(x))
        return y, rest[0](x)


class LastItem(nn.Module):
    sizes: Sequence[str] = ("4x2", "3x1")

    @nn.compact
    def __call__(self, x):
        parts = [Told(one) for one in self.sizes]
        for part in parts:
            x = part(x)
        return nn.Dense(2)(x)


class AnyItem(nn.Module):
    """The size is that of the first item, not of the last one: a person must look."""

    sizes: Sequence[str] = ("4x2", "3x1")

    @nn.compact
    def __call__(self, x):
        parts = [Told(one) for one in self.sizes]
        return nn.Dense(2)(parts[0](x)), parts[1](x)


X = jnp.linspace(-1.0, 1.0, 6).reshape(2, 3)

EXAMPLES = [
    Example(Build("Scale", 3), X),
    Example(Build("Uses", 4, Build("Scale", 4)), X),
    *(Example(Build(name), X) for name in ("SharedItems", "TurnedItems", "NamedItems")),
    *(Example(Build(name), X) for name in ("Told", "Early", "InLiteral", "EarlyChain")),
    *(Example(Build(name), X) for name in ("FirstItem", "LastItem", "AnyItem")),
]
