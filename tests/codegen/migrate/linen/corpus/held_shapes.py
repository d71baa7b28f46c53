"""Shapes that fields say: of what one part gives to another."""

from collections.abc import Sequence
from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


class Policy(NamedTuple):
    """Two arrays."""

    mean: jax.Array
    sample: jax.Array


class Actor(nn.Module):
    """What it returns has the shape of the field."""

    action_shape: tuple[int, ...]

    @nn.compact
    def __call__(self, state, key=None):
        count = int(np.prod(self.action_shape))
        x = nn.Dense(2 * count)(state.reshape(-1))
        mean, scale = jnp.split(x, 2)
        noise = jax.tree.map(jnp.zeros_like, mean)
        sample = jnp.reshape(mean + jnp.exp(scale) * noise, self.action_shape)
        return jnp.reshape(mean, self.action_shape), sample


class Critic(nn.Module):
    """It needs the whole shape."""

    @nn.compact
    def __call__(self, state, action):
        x = jnp.concatenate((state.reshape(-1), action.reshape(-1)))
        return nn.Dense(1)(nn.relu(nn.Dense(8)(x)))


class ActorCritic(nn.Module):
    """What a field says is the shape of what one part gives to the other."""

    action_shape: tuple[int, ...]

    def setup(self):
        self._actor = Actor(self.action_shape)
        self._critic = Critic()

    def __call__(self, state, key=None, use_mean=True):
        policy = self.actor(state, key)
        if use_mean:
            value = self.critic(state, policy.mean)
        else:
            value = self.critic(state, policy.sample)
        return policy, value

    def actor(self, state, key):
        return Policy(*self._actor(state, key=key))

    def critic(self, state, action):
        return self._critic(state, action)


class Shaped(nn.Module):
    """The last size of a field is the size of an input."""

    shape: Sequence[int]

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(int(np.prod(self.shape)))(x)
        x = x.reshape(self.shape)
        x = nn.Dense(3)(x)
        memory = jnp.zeros(self.shape)
        return x, nn.Dense(2)(memory)


class Templates(nn.Module):
    """The shape has room for what is left: nothing says the size."""

    shape: Sequence[int] = (-1, 4)

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x.reshape(self.shape))


EXAMPLES = [
    Example(Build("Actor", (2, 3)), jnp.ones((5,))),
    Example(Build("Critic"), jnp.ones((5,)), jnp.ones((2, 2))),
    Example(Build("ActorCritic", (2, 3)), jnp.ones((5,))),
    Example(Build("ActorCritic", (4,)), jnp.ones((5,)), use_mean=False),
    Example(Build("Shaped", (2, 3)), jnp.ones((5,))),
    Example(Build("Shaped", (2, 3, 4)), jnp.ones((5,))),
    Example(Build("Templates"), jnp.ones((2, 8))),
]
