"""Class methods and static methods that construct modules."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Mlp(nn.Module):
    hidden: int = 8

    @nn.compact
    def __call__(self, x):
        h = nn.gelu(nn.Dense(self.hidden)(x))
        return nn.Dense(x.shape[-1])(h)


class Block(nn.Module):
    mixer: nn.Module
    mlp: nn.Module

    @nn.compact
    def __call__(self, x):
        x = x + self.mixer(nn.LayerNorm()(x))
        return x + self.mlp(x)


class Chain(nn.Module):
    sizes: tuple

    @nn.compact
    def __call__(self, x):
        for size in self.sizes:
            x = nn.Dense(size)(x)
        return x

    @classmethod
    def equal(cls, size, count=2):
        return cls((size,) * count)


def make_blocks(size):
    return Block(mixer=Mlp(size), mlp=Mlp(hidden=size * 2))


def make_chain(size):
    return Chain((size, size))


class OfFields(nn.Module):
    size: int = 4

    @nn.compact
    def __call__(self, x):
        return Chain.equal(self.size)(x)


class OfFunctions(nn.Module):
    size: int = 4

    @nn.compact
    def __call__(self, x):
        x = make_chain(self.size)(x)
        return make_blocks(self.size)(x)


class OfStaticMethods(nn.Module):
    """A static method builds layers for two methods, and names those of another by numbers."""

    @staticmethod
    def _entry(x, size):
        return nn.LayerNorm()(nn.Dense(size)(x))

    @staticmethod
    def _numbered(x, number):
        return nn.Dense(4, name=f"numbered_{number}")(x)

    def _residual(self, x):
        return x + self._entry(nn.silu(x), 4)

    @nn.compact
    def __call__(self, x):
        x = self._residual(self._entry(x, 4))
        return self._numbered(nn.silu(self._numbered(x, 0)), 1)


X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
MLP = Build("Mlp", 3)

EXAMPLES = [
    Example(MLP, X),
    Example(Build("Block", mixer=MLP, mlp=Build("Mlp")), X),
    Example(Build("Chain", (3, 2)), X),
    Example(Build("OfFields"), X),
    Example(Build("OfFunctions"), X),
    Example(Build("OfStaticMethods"), X),
]
