"""A `setup` that several classes have, and what `__post_init__` makes of fields."""

import functools
from typing import Sequence, Union

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Mixer(nn.Module):
    """Classes inherit its `setup`; the sizes in their constructors differ."""

    size: int
    heads: int = 2

    def setup(self):
        dense = functools.partial(nn.DenseGeneral, features=[self.heads, 4], axis=-1)
        self.query = dense(name="to_q")
        self.key = dense(name="to_k")
        self.out = nn.DenseGeneral(self.size, axis=(-2, -1), name="to_out")

    @nn.compact
    def __call__(self, x, context=None):
        context = x if context is None else context
        y = self.query(x) * jnp.mean(self.key(context), axis=1, keepdims=True)
        return self.out(y)


class TurnedMixer(Mixer):
    is_turned: bool = True

    @nn.compact
    def __call__(self, x):
        y = super().__call__(x)
        return -y if self.is_turned else y


class WideMixer(Mixer):
    @nn.compact
    def __call__(self, x, context):
        wide = jnp.concatenate([x, context], axis=-1)
        y = self.query(wide) * jnp.mean(self.key(context), axis=1, keepdims=True)
        return self.out(y)


class OneOrSeveral(nn.Module):
    """Its fields may be numbers: `__post_init__` makes lists of these."""

    widths: Union[Sequence[int], int]
    scales: Union[Sequence[float], float] = 2.0

    def __post_init__(self):
        super().__post_init__()
        if not isinstance(self.widths, Sequence):
            self.widths = [self.widths]
        if not isinstance(self.scales, Sequence):
            self.scales = [self.scales] * len(self.widths)

    @nn.compact
    def __call__(self, x):
        for width, scale in zip(self.widths, self.scales):
            x = scale * nn.Dense(width)(x)
        return x


X = jnp.linspace(-1.0, 1.0, 30).reshape(2, 5, 3)
CONTEXT = jnp.linspace(-1.0, 1.0, 56).reshape(2, 4, 7)
BESIDE = jnp.linspace(-1.0, 1.0, 70).reshape(2, 5, 7)

EXAMPLES = [
    Example(Build("Mixer", 3), X),
    Example(Build("Mixer", 3), X, CONTEXT),
    Example(Build("TurnedMixer", 3), X),
    Example(Build("WideMixer", 3), X, BESIDE),
    Example(Build("OneOrSeveral", 4), X),
    Example(Build("OneOrSeveral", (4, 5)), X),
    Example(Build("OneOrSeveral", (4, 5), (1.0, 3.0)), X),
]
