"""Modules whose fields are given what only a call knows."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class Block(nn.Module):
    """The field is read in the method, and in a helper of it."""

    features: int
    train: bool
    rate: float = 0.5

    def drop(self, x):
        return nn.Dropout(self.rate, deterministic=not self.train)(x)

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.features)(x)
        x = nn.BatchNorm(use_running_average=not self.train)(x)
        if self.train:
            x = x * 2.0
        return self.drop(nn.relu(x))


class BlockUser(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        x = Block(4, train)(x)
        return Block(features=3, train=train, rate=0.25, name="last")(x)


class Norm(nn.Module):
    """Only a module that hands its own field on gives the field."""

    train: bool

    @nn.compact
    def __call__(self, x):
        return nn.BatchNorm(use_running_average=not self.train)(x)


class Outer(nn.Module):
    """Hands the field on: it is of the call here, too."""

    train: bool = False

    @nn.compact
    def __call__(self, x):
        return Norm(train=self.train)(Block(5, train=self.train)(x))


class OuterUser(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        return Outer(train=train)(x) + Outer(train)(x)


class Merged(nn.Module):
    """Takes it in the constructor or at the call."""

    deterministic: bool | None = None

    @nn.compact
    def __call__(self, x, deterministic: bool | None = None):
        deterministic = nn.merge_param("deterministic", self.deterministic, deterministic)
        return nn.Dropout(0.5)(nn.Dense(4)(x), deterministic=deterministic)


class MergedUser(nn.Module):
    @nn.compact
    def __call__(self, x, deterministic: bool = True):
        x = Merged(deterministic=deterministic)(x)
        return Merged()(x, deterministic=deterministic)


class MaskedMean(nn.Module):
    mask: jnp.ndarray
    features: int = 3

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.features)(x)
        return (x * self.mask).sum(0) / self.mask.sum()


class MaskedMeanUser(nn.Module):
    @nn.compact
    def __call__(self, x, mask):
        return MaskedMean(mask=mask)(x)


class InPartial(nn.Module):
    """A partial with what the call knows, used twice here."""

    @nn.compact
    def __call__(self, x, train: bool = True):
        norm = partial(nn.BatchNorm, use_running_average=not train, momentum=0.5)
        block = partial(Block, train=train)
        x = norm(name="first")(x)
        x = block(6)(x)
        return norm()(block(4, rate=0.1)(x))


class NormBlock(nn.Module):
    norm: Any
    act: Callable

    @nn.compact
    def __call__(self, x):
        x = self.act(self.norm()(nn.Dense(4)(x)))
        return self.act(self.norm(scale_init=nn.initializers.zeros)(nn.Dense(4)(x)))


class NormStage(nn.Module):
    """Hands the partial on."""

    norm: Any
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = NormBlock(norm=self.norm, act=nn.relu)(x)
        return self.norm(name="end")(x)


class NormUser(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = True):
        norm = partial(nn.BatchNorm, use_running_average=not train, momentum=0.8)
        x = NormBlock(norm, nn.tanh)(x)
        return NormStage(norm=norm)(x)


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
BN = ("batch_stats",)
NORM = Build("functools.partial", Build.ref("flax.linen.BatchNorm"), use_running_average=True)

EXAMPLES = [
    Example(Build("Block", 4, train=False), X),
    Example(Build("Block", 4, train=True, rate=0.0), X, mutable=BN),
    Example(Build("BlockUser"), X, train=False),
    Example(Build("BlockUser"), X, mutable=BN),
    Example(Build("Outer"), X),
    Example(Build("OuterUser"), X, False),
    Example(Build("Norm", train=True), X, mutable=BN),
    Example(Build("Merged", True), X),
    Example(Build("Merged"), X, deterministic=True),
    Example(Build("MergedUser"), X),
    Example(Build("MaskedMean", X[:, :1]), X),
    Example(Build("MaskedMeanUser"), X, X[:, :1]),
    Example(Build("InPartial"), X, train=False),
    Example(Build("NormBlock", NORM, nn.relu), X),
    Example(Build("NormStage", NORM, 1), X),
    Example(Build("NormUser"), X, mutable=BN),
    Example(Build("NormUser"), X, train=False),
]
