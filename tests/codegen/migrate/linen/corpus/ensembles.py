"""vmap: members with weights of their own, or with the same ones."""

import functools

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Normed(nn.Module):
    train: bool = True

    @nn.compact
    def __call__(self, x):
        return nn.BatchNorm(use_running_average=not self.train, momentum=0.5)(nn.Dense(3)(x))


class SharedWeightsOwnStatistics(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.vmap(
            Normed,
            variable_axes={"params": None, "batch_stats": 0},
            split_rngs={"params": False},
        )()(x)


class AlikeAtFirst(nn.Module):
    """All members begin with the same weights."""

    @nn.compact
    def __call__(self, x):
        return nn.vmap(
            nn.Dense,
            variable_axes={"params": 0},
            split_rngs={"params": False},
            in_axes=(0,),
            axis_size=2,
        )(features=3)(x)


class Grid(nn.Module):
    rows: int
    columns: int

    @nn.compact
    def __call__(self, x):
        lift = functools.partial(nn.vmap, variable_axes={"params": 0}, split_rngs={"params": True})
        return lift(lift(nn.Dense, in_axes=None, axis_size=self.columns))(5)(x)


class Gain(nn.Module):
    @nn.compact
    def __call__(self, x, y):
        return x * self.param("gain", nn.initializers.normal(), (5,)) + y.sum()


class AnyArguments(nn.Module):
    def setup(self):
        self.members = nn.vmap(
            Gain,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            in_axes=None,
            axis_size=2,
        )()

    def __call__(self, *args):
        return self.members(*args)


S, A = jnp.linspace(-1, 1, 10).reshape(2, 5), jnp.linspace(0, 1, 6).reshape(2, 3)
THREE = jnp.linspace(-2, 1, 30).reshape(3, 2, 5)
X = jnp.linspace(-1, 2, 24).reshape(2, 2, 6)

EXAMPLES = [
    Example(Build("SharedWeightsOwnStatistics"), THREE, mutable=("batch_stats",)),
    Example(Build("AlikeAtFirst"), X),
    Example(Build("Grid", 2, 3), X),
    Example(Build("AnyArguments"), S, A),
]
