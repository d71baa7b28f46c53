"""Layers that are built before a loop, and called behind it with what the loop leaves."""

from collections.abc import Sequence

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class HeadFirst(nn.Module):
    """The head is the first of the layers that are alike."""

    sizes: Sequence[int] = (4, 5)

    @nn.compact
    def __call__(self, x):
        head = nn.Dense(2)
        for size in self.sizes:
            x = nn.Dense(size)(x)
        return head(x)


class TwoHeads(nn.Module):
    sizes: Sequence[int] = (4, 5)

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(3)(x)
        mean = nn.Dense(2)
        scale = nn.Dense(2)
        for size in self.sizes:
            x = nn.Dense(size)(x)
        return mean(x) * scale(x)


class HeadWithName(nn.Module):
    sizes: Sequence[int] = (4, 5)

    @nn.compact
    def __call__(self, x):
        head = nn.Dense(2, name="head")
        for size in self.sizes:
            x = nn.Dense(size)(x)
        return head(x)


class HeadAroundCall(nn.Module):
    """Python builds the outer layer first."""

    depth: int = 2

    def stem(self, x):
        for _ in range(self.depth):
            x = nn.Dense(4)(x)
        return x

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(self.stem(x))


class HeadAroundList(nn.Module):
    sizes: Sequence[int] = (4, 5)

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(nn.Sequential([nn.Dense(size) for size in self.sizes])(x))


class BetweenLoops(nn.Module):
    """How many layers are before the head depends on a field."""

    sizes: Sequence[int] = (4, 5)

    @nn.compact
    def __call__(self, x):
        for size in self.sizes:
            x = nn.Dense(size)(x)
        head = nn.Dense(2)
        for size in self.sizes:
            x = nn.Dense(size + 1)(x)
        return head(x)


class HeadInSetup(nn.Module):
    sizes: Sequence[int] = (4, 5)

    def setup(self):
        self.head = nn.Dense(2)
        self.layers = [nn.Dense(size) for size in self.sizes]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


X = jnp.sin(jnp.arange(6.0)).reshape(2, 3)

EXAMPLES = [
    Example(Build("HeadFirst"), X),
    Example(Build("HeadFirst", (6,)), X),
    Example(Build("TwoHeads"), X),
    Example(Build("HeadWithName"), X),
    Example(Build("HeadAroundCall"), X),
    Example(Build("HeadAroundCall", 0), X),
    Example(Build("HeadAroundList"), X),
    Example(Build("BetweenLoops"), X),
    Example(Build("HeadInSetup"), X),
]
