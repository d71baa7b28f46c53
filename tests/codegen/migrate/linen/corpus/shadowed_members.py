"""Fields that stand in for properties and abstract methods of a base."""

import abc
from collections.abc import Callable

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Named:
    @property
    def label(self):
        return "none"


class Potential(abc.ABC, nn.Module):
    @property
    @abc.abstractmethod
    def is_scalar(self):
        """Whether it returns one number."""

    @abc.abstractmethod
    def scaled(self, x):
        """Return an array, scaled."""


class ByFields(Named, Potential):
    size: int
    is_scalar: bool = True
    scaled: Callable = nn.tanh
    label: str = "field"

    @nn.compact
    def __call__(self, x):
        x = self.scaled(nn.Dense(self.size)(x))
        x = x + len(self.label)
        return x.sum(-1) if self.is_scalar else x


class Derived(ByFields):
    scaled: Callable = nn.relu


class ByMethods(Potential):
    @property
    def is_scalar(self):
        return False

    def scaled(self, x):
        return 2.0 * x

    @nn.compact
    def __call__(self, x):
        return self.scaled(nn.Dense(3)(x)) + jnp.float32(self.is_scalar)


X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)

EXAMPLES = [
    Example(Build("ByFields", 3), X),
    Example(Build("ByFields", 3, is_scalar=False, label="longer"), X),
    Example(Build("Derived", 3), X),
    Example(Build("ByMethods"), X),
]
