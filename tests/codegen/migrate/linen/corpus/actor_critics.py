"""Actors and critics as reinforcement learning writes them: recurrent, with resets, in heads."""

import functools
from typing import Dict, NamedTuple, Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax.linen.initializers import constant, orthogonal

from typed_nnx_codegen.verify.examples import Build, Example


class Categorical(NamedTuple):
    logits: jax.Array


class ResettingRNN(nn.Module):
    """A cell over time whose carry begins anew where an episode begins."""

    @functools.partial(
        nn.scan,
        variable_broadcast="params",
        in_axes=0,
        out_axes=0,
        split_rngs={"params": False},
    )
    @nn.compact
    def __call__(self, carry, x):
        rnn_state = carry
        ins, resets = x
        rnn_state = jnp.where(
            resets[:, np.newaxis],
            self.initialize_carry(ins.shape[0], ins.shape[1]),
            rnn_state,
        )
        new_rnn_state, y = nn.GRUCell(features=ins.shape[1])(rnn_state, ins)
        return new_rnn_state, y

    @staticmethod
    def initialize_carry(batch_size, hidden_size):
        cell = nn.GRUCell(features=hidden_size)
        return cell.initialize_carry(jax.random.PRNGKey(0), (batch_size, hidden_size))


class RecurrentActorCritic(nn.Module):
    action_dim: Sequence[int]
    config: Dict

    @nn.compact
    def __call__(self, hidden, x):
        obs, dones = x
        embedding = nn.Dense(8, kernel_init=orthogonal(np.sqrt(2)), bias_init=constant(0.0))(obs)
        embedding = nn.relu(embedding)

        rnn_in = (embedding, dones)
        hidden, embedding = ResettingRNN()(hidden, rnn_in)

        actor_mean = nn.Dense(6, kernel_init=orthogonal(2), bias_init=constant(0.0))(embedding)
        actor_mean = nn.relu(actor_mean)
        actor_mean = nn.Dense(
            self.action_dim, kernel_init=orthogonal(0.01), bias_init=constant(0.0)
        )(actor_mean)
        pi = Categorical(logits=actor_mean)

        critic = nn.Dense(6, kernel_init=orthogonal(2), bias_init=constant(0.0))(embedding)
        critic = nn.relu(critic)
        critic = nn.Dense(1, kernel_init=orthogonal(1.0), bias_init=constant(0.0))(critic)
        return hidden, pi, jnp.squeeze(critic, axis=-1)


class Stage(nn.Module):
    channels: int
    blocks: int
    pools: bool = True

    @nn.compact
    def __call__(self, x):
        out = nn.Conv(features=self.channels, kernel_size=(3, 3), strides=1, padding="SAME")(x)
        if self.pools:
            out = nn.max_pool(out, window_shape=(3, 3), padding="SAME", strides=(2, 2))
        for _ in range(self.blocks):
            before = out
            out = nn.relu(out)
            out = nn.Conv(features=self.channels, kernel_size=(3, 3), strides=1, padding="SAME")(
                out
            )
            out += before
        return out


class Encoder(nn.Module):
    scale: int = 1
    sizes: tuple[int, ...] = (4, 6)
    blocks: int = 2

    def setup(self):
        self._stages = [
            Stage(channels=size * self.scale, blocks=self.blocks) for size in self.sizes
        ]

    @nn.compact
    def __call__(self, x):
        for stage in self._stages:
            x = stage(x)
        return nn.relu(x)


class ImpalaPolicy(nn.Module):
    actions: int
    scale: int = 1

    def setup(self):
        self.encoder = Encoder(scale=self.scale)

    @nn.compact
    def __call__(self, x):
        x = self.encoder(x)
        x = x.reshape((-1))
        x = nn.Dense(features=8)(x)
        return nn.Dense(features=self.actions)(nn.relu(x))


class Halvings(nn.Module):
    width: int
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = nn.relu(nn.Conv(self.width, (3, 3), strides=(2, 2))(x))
        return x


class HalvingPolicy(nn.Module):
    actions: int

    @nn.compact
    def __call__(self, x):
        x = Halvings(4)(x)
        x = x.reshape((x.shape[0], -1))
        return nn.Dense(self.actions)(x)


OBS = jnp.linspace(-1.0, 1.0, 3 * 2 * 4).reshape(3, 2, 4)
DONES = jnp.array([[False, False], [True, False], [False, True]])
CARRY = jnp.linspace(-0.5, 0.5, 2 * 8).reshape(2, 8)
PICTURE = jnp.linspace(0.0, 255.0, 2 * 3 * 12 * 12).reshape(2, 3, 12, 12)
ROWS = jnp.transpose(PICTURE, (0, 2, 3, 1)) / 255.0

EXAMPLES = [
    Example(Build("ResettingRNN"), CARRY, (jnp.ones((3, 2, 8)) * 0.3, DONES)),
    Example(Build("RecurrentActorCritic", 3, config={}), CARRY, (OBS, DONES)),
    Example(Build("Stage", 4, 1), ROWS),
    Example(Build("Encoder"), ROWS),
    Example(Build("ImpalaPolicy", 3), ROWS[0]),
    Example(Build("ImpalaPolicy", 3, 2), ROWS[0]),
    Example(Build("Halvings", 4, 1), ROWS),
    Example(Build("HalvingPolicy", 3), ROWS),
]
