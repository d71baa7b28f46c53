"""Actors and critics as reinforcement learning writes them: recurrent, with resets, in heads."""

import functools
from typing import Dict, NamedTuple, Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax.linen.initializers import constant, orthogonal


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


class ResettingLSTM(nn.Module):
    """The same with two states, and a width of its own."""

    hidden_size: int = 8

    @functools.partial(
        nn.scan,
        variable_broadcast="params",
        in_axes=0,
        out_axes=0,
        split_rngs={"params": False},
    )
    @nn.compact
    def __call__(self, carry, x):
        ins, resets = x
        fresh = self.initialize_carry(ins.shape[0], self.hidden_size)
        carry = jax.tree_util.tree_map(
            lambda new, old: jnp.where(resets[:, None], new, old), fresh, carry
        )
        carry, y = nn.OptimizedLSTMCell(self.hidden_size)(carry, ins)
        return carry, y

    @staticmethod
    def initialize_carry(batch_size, hidden_size):
        cell = nn.OptimizedLSTMCell(features=hidden_size)
        return cell.initialize_carry(jax.random.PRNGKey(0), (batch_size, hidden_size))


class LSTMActor(nn.Module):
    actions: int

    @nn.compact
    def __call__(self, carry, obs, dones):
        x = nn.tanh(nn.Dense(5, name="encoder")(obs))
        carry, x = ResettingLSTM(name="rnn")(carry, (x, dones))
        return carry, nn.Dense(self.actions, name="policy")(x)


class ActorCritic(nn.Module):
    """Two networks with an activation that a text names."""

    action_dim: int
    activation: str = "tanh"

    @nn.compact
    def __call__(self, x):
        if self.activation == "relu":
            activation = nn.relu
        else:
            activation = nn.tanh
        actor = nn.Dense(8, kernel_init=orthogonal(np.sqrt(2)), bias_init=constant(0.0))(x)
        actor = activation(actor)
        actor = nn.Dense(self.action_dim, kernel_init=orthogonal(0.01))(actor)
        log_std = self.param("log_std", nn.initializers.zeros, (self.action_dim,))
        critic = nn.Dense(8, kernel_init=orthogonal(np.sqrt(2)), bias_init=constant(0.0))(x)
        critic = activation(critic)
        critic = nn.Dense(1, kernel_init=orthogonal(1.0), bias_init=constant(0.0))(critic)
        return actor, jnp.exp(log_std), jnp.squeeze(critic, axis=-1)


class PixelTorso(nn.Module):
    """The trunk of a script: pictures come with channels first."""

    @nn.compact
    def __call__(self, x):
        x = jnp.transpose(x, (0, 2, 3, 1))
        x = x / (255.0)
        x = nn.Conv(
            4,
            kernel_size=(4, 4),
            strides=(2, 2),
            padding="VALID",
            kernel_init=orthogonal(np.sqrt(2)),
            bias_init=constant(0.0),
        )(x)
        x = nn.relu(x)
        x = nn.Conv(6, kernel_size=(3, 3), strides=(1, 1), padding="VALID")(x)
        x = nn.relu(x)
        x = x.reshape((x.shape[0], -1))
        x = nn.Dense(9, kernel_init=orthogonal(np.sqrt(2)), bias_init=constant(0.0))(x)
        return nn.relu(x)


class ValueHead(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1, kernel_init=orthogonal(1), bias_init=constant(0.0))(x)


class PolicyHead(nn.Module):
    action_dim: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.action_dim, kernel_init=orthogonal(0.01), bias_init=constant(0.0))(x)


class Residual(nn.Module):
    channels: int

    @nn.compact
    def __call__(self, x):
        inputs = x
        x = nn.relu(x)
        x = nn.Conv(self.channels, kernel_size=(3, 3))(x)
        x = nn.relu(x)
        x = nn.Conv(self.channels, kernel_size=(3, 3))(x)
        return x + inputs


class PoolingSequence(nn.Module):
    channels: int

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(self.channels, kernel_size=(3, 3))(x)
        x = nn.max_pool(x, window_shape=(3, 3), strides=(2, 2), padding="SAME")
        x = Residual(self.channels)(x)
        return Residual(self.channels)(x)


class DeepTorso(nn.Module):
    """The trunk with residual blocks of a list of widths, flattened at the end."""

    channelss: Sequence[int] = (4, 6)

    @nn.compact
    def __call__(self, x):
        x = jnp.transpose(x, (0, 2, 3, 1))
        x = x / (255.0)
        for channels in self.channelss:
            x = PoolingSequence(channels)(x)
        x = nn.relu(x)
        x = x.reshape((x.shape[0], -1))
        x = nn.Dense(9, kernel_init=orthogonal(2), bias_init=constant(0.0))(x)
        return nn.relu(x)


class TwinCritics(nn.Module):
    """Two critics of one class with weights of their own."""

    widths: Sequence[int] = (7, 5)
    count: int = 2

    @nn.compact
    def __call__(self, obs, action):
        critics = nn.vmap(
            SoftCritic,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            in_axes=None,
            out_axes=0,
            axis_size=self.count,
        )
        return critics(self.widths)(obs, action)


class SoftCritic(nn.Module):
    widths: Sequence[int]

    @nn.compact
    def __call__(self, obs, action):
        x = jnp.concatenate([obs, action], -1)
        for width in self.widths:
            x = nn.relu(nn.Dense(width)(x))
        return nn.Dense(1)(x)


class SquashedActor(nn.Module):
    action_dim: int
    action_scale: jnp.ndarray
    low: float = -5.0
    high: float = 2.0

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(7)(x))
        mean = nn.Dense(self.action_dim)(x)
        log_std = nn.tanh(nn.Dense(self.action_dim)(x))
        log_std = self.low + 0.5 * (self.high - self.low) * (log_std + 1)
        return nn.tanh(mean) * self.action_scale, log_std


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


class BatchedPolicy(nn.Module):
    actions: int

    @nn.compact
    def __call__(self, x):
        x = Encoder(sizes=(3, 4, 5), name="torso")(x)
        x = x.reshape((x.shape[0], -1))
        return nn.Dense(self.actions)(x)


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
