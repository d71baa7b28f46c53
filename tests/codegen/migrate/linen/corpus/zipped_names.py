"""Names that count beside other values."""

from collections.abc import Sequence

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Zipped(nn.Module):
    """The names of the layers count with the layers, beside what they are made of."""

    sizes: Sequence[int] = (3, 4)
    depth: int = 2

    def setup(self):
        self.layers = [
            nn.Dense(size, name=f"layer_{k}") for k, size in zip(range(self.depth), self.sizes)
        ]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class ZippedInLoop(nn.Module):
    sizes: Sequence[int] = (3, 4)

    @nn.compact
    def __call__(self, x):
        for size, k in zip(self.sizes, range(len(self.sizes))):
            x = nn.Dense(size, name=f"layer_{k}")(x)
        for k, size in enumerate(self.sizes):
            x = nn.Dense(size, name=f"next_{k}")(x)
        for k, size in zip(range(1, 3), self.sizes):
            x = nn.Dense(size, name=f"late_{k}")(x)
        return x


class ZippedSizes(nn.Module):
    """The names are made of sizes: a person must look."""

    sizes: Sequence[int] = (3, 4)

    def setup(self):
        self.layers = [
            nn.Dense(size, name=f"layer_{size}") for _, size in zip(range(2), self.sizes)
        ]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)

EXAMPLES = [Example(Build(name), X) for name in ("Zipped", "ZippedInLoop", "ZippedSizes")]
