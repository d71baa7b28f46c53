"""Methods that take any number of arguments, and pass them on."""

import functools
from typing import Any

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, Ref, wave


class Critic(nn.Module):
    width: int = 8

    @nn.compact
    def __call__(self, observations, actions, train=False):
        x = jnp.concatenate([observations, actions], axis=-1)
        x = nn.relu(nn.Dense(self.width)(x))
        return nn.Dense(1)(x)[..., 0]


class Ensemble(nn.Module):
    member: Any = functools.partial(Critic, width=4)
    size: int = 2

    @nn.compact
    def __call__(self, *args):
        members = nn.vmap(
            self.member,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            in_axes=None,
            out_axes=0,
            axis_size=self.size,
        )
        return members()(*args)


class Around(nn.Module):
    @nn.compact
    def __call__(self, *args, train=False):
        return Critic(3, name="critic")(*args, train=train)


class BehindTheFirst(nn.Module):
    @nn.compact
    def __call__(self, observations, *rest):
        return Critic()(nn.Dense(5)(observations), *rest) + nn.Dense(1)(rest[0])[..., 0]


class Unpacked(nn.Module):
    @nn.compact
    def __call__(self, *args):
        observations, *rest = args
        return nn.Dense(3)(observations) + nn.Dense(3)(args[1]) + len(rest)


class ByName(nn.Module):
    @nn.compact
    def __call__(self, *args):
        return Critic()(*args, actions=jnp.ones((2, 3)))


class Inherited(Around):
    @nn.compact
    def __call__(self, *args):
        return super().__call__(*args) * 2


class User(nn.Module):
    @nn.compact
    def __call__(self, observations, actions):
        values = Ensemble()(observations, actions).mean(0)
        values += Around()(nn.Dense(7)(observations), actions, train=True)
        values += BehindTheFirst()(observations, nn.tanh(actions), jnp.ones((1, 9)))
        return values + Unpacked()(actions, observations)[..., 0]


OBSERVATIONS, ACTIONS = wave(2, 4), wave(2, 6)

EXAMPLES = [
    Example(Build("Ensemble"), OBSERVATIONS, ACTIONS),
    Example(Build("Ensemble", Ref("Critic"), 3), OBSERVATIONS, ACTIONS),
    Example(Build("Around"), OBSERVATIONS, ACTIONS, train=True),
    Example(Build("BehindTheFirst"), OBSERVATIONS, ACTIONS),
    Example(Build("Unpacked"), OBSERVATIONS, ACTIONS),
    Example(Build("ByName"), OBSERVATIONS),
    Example(Build("Inherited"), OBSERVATIONS, ACTIONS),
    Example(Build("User"), OBSERVATIONS, ACTIONS),
]
