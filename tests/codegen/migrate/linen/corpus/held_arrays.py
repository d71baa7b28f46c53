"""Fields that hold arrays, in tuples and dicts too."""

from dataclasses import field
from typing import Any, Tuple

import flax.linen as nn
import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


class StartedByPair(nn.Module):
    state: Tuple[Any]

    @nn.compact
    def __call__(self, x):
        scale, shift = self.state
        return nn.Dense(3)(x * scale + shift)


class Holder(nn.Module):
    @nn.compact
    def __call__(self, x):
        state = (x[0] * 2, x[1])
        return StartedByPair(state=state)(x)


class StartedThenScaled(nn.Module):
    state: Tuple[Any]
    factor: float

    @nn.compact
    def __call__(self, x):
        scale, shift = self.state
        return nn.Dense(3)(x * scale + self.factor * shift)


class HolderOfScaled(nn.Module):
    @nn.compact
    def __call__(self, x):
        return StartedThenScaled(state=(x[0] * 2, x[1]), factor=2.0)(x)


class Boxed(nn.Module):
    """A person named a function as a type: Python computes it."""

    box: np.array = field(default_factory=lambda: np.array([1.0, 2.0, 3.0]))

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x) * self.box


def frequencies(count):
    angles = jnp.arange(count) * 0.1
    return jnp.cos(angles), jnp.sin(angles)


class Rotated(nn.Module):
    """`setup` computes tuples and dicts of arrays."""

    count: int = 3

    def setup(self):
        self.rope = frequencies(self.count)
        self.table = {"scale": jnp.ones((self.count,)), "shift": [jnp.zeros(1), jnp.ones(1)]}
        self.dense = nn.Dense(self.count)

    def __call__(self, x):
        cos, sin = self.rope
        return self.dense(x) * cos + sin * self.table["scale"] + self.table["shift"][1]


X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
EXAMPLES = [
    Example(Build("StartedByPair", (X[0], X[1])), X),
    Example(Build("Holder"), X),
    Example(Build("StartedThenScaled", (X[0], X[1]), 2.0), X),
    Example(Build("HolderOfScaled"), X),
    Example(Build("Boxed"), X),
    Example(Build("Rotated"), X),
]
