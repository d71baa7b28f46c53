"""vmap: members with weights of their own, or with the same ones."""

import functools
from collections.abc import Sequence

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Critic(nn.Module):
    widths: Sequence[int]
    rate: float = 0.0

    @nn.compact
    def __call__(self, state, action, train: bool = False):
        x = jnp.concatenate([state, action], axis=-1)
        for width in self.widths:
            x = nn.relu(nn.Dense(width)(x))
            x = nn.Dropout(self.rate)(x, deterministic=not train)
        return nn.Dense(1)(x).squeeze(-1)


class Critics(nn.Module):
    widths: Sequence[int]
    count: int = 2

    @nn.compact
    def __call__(self, state, action):
        many = nn.vmap(
            Critic,
            variable_axes={"params": 0},
            split_rngs={"params": True, "dropout": True},
            in_axes=None,
            out_axes=0,
            axis_size=self.count,
        )
        return many(self.widths, rate=0.1)(state, action)


class CriticsByKeyword(nn.Module):
    """Linen ignores what members are given by name."""

    @nn.compact
    def __call__(self, state, action, train=False):
        many = nn.vmap(
            Critic,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            in_axes=(0, None),
            axis_size=3,
        )
        return many((4,), name="many")(state, action, train=train)


class CriticsInSetup(nn.Module):
    width: int

    def setup(self):
        lift = functools.partial(
            nn.vmap, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=None
        )
        self.critics = lift(Critic, axis_size=2)((self.width,))
        self.scale = nn.Dense(1)

    def __call__(self, state, action):
        return self.critics(state, action) * self.scale(state)[:, 0]


class Encoder(nn.Module):
    features: int

    def setup(self):
        self.down = nn.Dense(self.features)
        self.up = nn.Dense(6)

    def encode(self, x):
        return nn.tanh(self.down(x))

    def decode(self, z):
        return self.up(z)

    def __call__(self, x):
        return self.decode(self.encode(x))


class SharedWeights(nn.Module):
    @nn.compact
    def __call__(self, x):
        each = nn.vmap(
            Encoder, variable_axes={"params": None}, split_rngs={"params": False}, in_axes=1
        )
        return each(3)(x)


class Normed(nn.Module):
    train: bool = True

    @nn.compact
    def __call__(self, x):
        return nn.BatchNorm(use_running_average=not self.train, momentum=0.5)(nn.Dense(3)(x))


class NormedMembers(nn.Module):
    """Each member has statistics of its own."""

    @nn.compact
    def __call__(self, x):
        return nn.vmap(
            Normed,
            variable_axes={"params": 0, "batch_stats": 0},
            split_rngs={"params": True},
            in_axes=None,
            axis_size=2,
        )()(x)


class SharedWeightsOwnStatistics(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.vmap(
            Normed,
            variable_axes={"params": None, "batch_stats": 0},
            split_rngs={"params": False},
        )()(x)


class OtherAxes(nn.Module):
    """Weights are stacked along their last and along their second axis."""

    @nn.compact
    def __call__(self, x):
        many = functools.partial(
            nn.vmap, in_axes=None, axis_size=3, split_rngs={"params": True}, out_axes=-1
        )
        y = many(nn.Dense, variable_axes={"params": -1})(4)(x)
        return y, many(nn.Dense, variable_axes={"params": 1})(2, name="second")(x)


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
    Example(Build("Critics", (4, 3)), S, A),
    Example(Build("CriticsByKeyword"), THREE, A, train=True),
    Example(Build("CriticsInSetup", 4), S, A),
    Example(Build("SharedWeights"), X),
    Example(Build("NormedMembers"), S, mutable=("batch_stats",)),
    Example(Build("SharedWeightsOwnStatistics"), THREE, mutable=("batch_stats",)),
    Example(Build("OtherAxes"), S),
    Example(Build("AlikeAtFirst"), X),
    Example(Build("Grid", 2, 3), X),
    Example(Build("AnyArguments"), S, A),
]
