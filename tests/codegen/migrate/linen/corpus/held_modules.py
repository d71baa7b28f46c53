"""Fields that hold modules, one or several."""

from collections.abc import Sequence
from typing import Any

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Part(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.tanh(nn.Dense(self.width)(x))


class Headed(nn.Module):
    """The default of the field is a module."""

    head: nn.Module = nn.Dense(3)

    @nn.compact
    def __call__(self, x):
        return self.head(nn.Dense(5)(x))


class HeadedUser(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = Headed(nn.Dense(4))(x)
        return Headed(head=Part(2))(x)


class Encoded(nn.Module):
    """The width of what a field makes is what the module in it knows."""

    encoder: nn.Module
    classes: int = 2

    @nn.compact
    def __call__(self, tokens):
        return nn.Dense(self.classes)(self.encoder(tokens).mean(axis=-2))


class EncodedUser(nn.Module):
    """Built in `setup`, inline and beside."""

    def setup(self):
        self.table = nn.Embed(9, 6)
        self.first = Encoded(self.table)
        self.second = Encoded(nn.Embed(9, 4), classes=3)

    def __call__(self, tokens):
        return self.first(tokens), self.second(tokens)


class Stack(nn.Module):
    parts: Sequence[nn.Module]

    @nn.compact
    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x


class StackUser(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Stack([nn.Dense(4), nn.relu, Part(3)])(x)


class StackInSetup(nn.Module):
    def setup(self):
        self.stack = Stack(parts=[Part(4), nn.Dense(2)])

    def __call__(self, x):
        return self.stack(x)


class Heads(nn.Module):
    heads: dict[str, Any]
    extra: list[nn.Module] | None = None

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        if self.extra is not None:
            for one in self.extra:
                x = one(x)
        return {name: head(x) for name, head in self.heads.items()}


class Wrapper(nn.Module):
    inner: nn.Module

    def __call__(self, x):
        return x + self.inner(x)


class WrapperUser(nn.Module):
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = Wrapper(Part(6))(x)
        return Wrapper(inner=Wrapper(nn.Dense(6)))(x)


class WrapperInSetup(nn.Module):
    width: int

    def setup(self):
        self.block = Wrapper(inner=Part(self.width))
        self.blocks = [Wrapper(nn.Dense(self.width)) for _ in range(2)]

    def __call__(self, x):
        x = self.block(x)
        for block in self.blocks:
            x = block(x)
        return x


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
TOKENS = jnp.arange(8).reshape(2, 4)
PART = Build("Part", 4)
DENSE = Build("flax.linen.Dense", 2)

EXAMPLES = [
    Example(Build("Headed"), X),
    Example(Build("Headed", PART), X),
    Example(Build("HeadedUser"), X),
    Example(Build("Encoded", Build("flax.linen.Embed", 9, 5)), TOKENS),
    Example(Build("EncodedUser"), TOKENS),
    Example(Build("Stack", (PART, nn.relu, DENSE)), X),
    Example(Build("StackUser"), X),
    Example(Build("StackInSetup"), X),
    Example(Build("Heads", {"a": PART, "b": DENSE}), X),
    Example(Build("Heads", {"a": DENSE}, [PART, Build("Part", 3)]), X),
    Example(Build("Wrapper", Build("flax.linen.Dense", 6)), X),
    Example(Build("WrapperUser"), X),
    Example(Build("WrapperInSetup", 6), X),
]
