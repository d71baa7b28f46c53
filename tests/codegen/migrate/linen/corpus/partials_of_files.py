"""Partials of layers that are bound at the top level of a file."""

from collections.abc import Callable
from functools import partial

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

dense = partial(nn.Dense, kernel_init=nn.initializers.xavier_uniform())
five = partial(nn.Dense, 5)
seven = partial(nn.Dense, features=7, use_bias=False)
zero_dense = partial(dense, kernel_init=nn.initializers.zeros, bias_init=nn.initializers.ones)
zero_seven = partial(seven, kernel_init=nn.initializers.zeros)


class OfPartials(nn.Module):
    """In a compact method."""

    hidden: int

    @nn.compact
    def __call__(self, x):
        x = nn.gelu(dense(self.hidden)(x))
        return dense(3, use_bias=False)(seven()(five()(x)))


class OfPartialsInSetup(nn.Module):
    """In `setup`."""

    hidden: int

    def setup(self):
        self.first = dense(self.hidden)
        self.second = seven()

    def __call__(self, x):
        return self.second(nn.relu(self.first(x)))


class OfPartialsOfPartials(nn.Module):
    """A partial of another one keeps what both have given."""

    hidden: int
    make: Callable[..., nn.Module] = partial(dense, use_bias=False)

    @nn.compact
    def __call__(self, x):
        x = x + zero_dense(x.shape[-1], name="zero")(dense(self.hidden)(x))
        return self.make(2)(x) + zero_seven()(x)[:, :2]


X = jnp.linspace(-1.0, 1.0, 8).reshape(2, 4)

EXAMPLES = [Example(Build(name, 6), X) for name in ("OfPartials", "OfPartialsInSetup")]
EXAMPLES += [
    Example(Build("OfPartialsOfPartials", 6), X),
    Example(Build("OfPartialsOfPartials", 6, partial(nn.Dense, bias_init=nn.initializers.ones)), X),
]
