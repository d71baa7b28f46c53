"""Actors and critics."""

import functools
from typing import Any, Callable, NamedTuple, Optional, Sequence, Tuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


def default_init(scale: float = np.sqrt(2)):
    return nn.initializers.orthogonal(scale)


class MLP(nn.Module):
    hidden_dims: Sequence[int]
    activations: Callable[[jnp.ndarray], jnp.ndarray] = nn.relu
    activate_final: bool = False
    dropout_rate: Optional[float] = None

    @nn.compact
    def __call__(self, x: jnp.ndarray, training: bool = False) -> jnp.ndarray:
        for i, size in enumerate(self.hidden_dims):
            x = nn.Dense(size, kernel_init=default_init())(x)
            if i + 1 < len(self.hidden_dims) or self.activate_final:
                x = self.activations(x)
                if self.dropout_rate is not None:
                    x = nn.Dropout(rate=self.dropout_rate)(x, deterministic=not training)
        return x


class ValueCritic(nn.Module):
    hidden_dims: Sequence[int]

    @nn.compact
    def __call__(self, observations: jnp.ndarray) -> jnp.ndarray:
        critic = MLP((*self.hidden_dims, 1))(observations)
        return jnp.squeeze(critic, -1)


class Critic(nn.Module):
    hidden_dims: Sequence[int]
    activations: Callable[[jnp.ndarray], jnp.ndarray] = nn.relu

    @nn.compact
    def __call__(self, observations: jnp.ndarray, actions: jnp.ndarray) -> jnp.ndarray:
        inputs = jnp.concatenate([observations, actions], -1)
        critic = MLP((*self.hidden_dims, 1), activations=self.activations)(inputs)
        return jnp.squeeze(critic, -1)


class DoubleCritic(nn.Module):
    hidden_dims: Sequence[int]

    @nn.compact
    def __call__(self, observations, actions) -> Tuple[jnp.ndarray, jnp.ndarray]:
        critic1 = Critic(self.hidden_dims)(observations, actions)
        critic2 = Critic(self.hidden_dims, activations=nn.tanh)(observations, actions)
        return critic1, critic2


class CriticEnsemble(nn.Module):
    hidden_dims: Sequence[int]
    num_critics: int = 2

    @nn.compact
    def __call__(self, states, actions):
        ensemble = nn.vmap(
            Critic,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            in_axes=None,
            out_axes=0,
            axis_size=self.num_critics,
        )
        return ensemble(self.hidden_dims)(states, actions)


class GaussianPolicy(nn.Module):
    hidden_dims: Sequence[int]
    action_dim: int
    state_dependent_std: bool = True
    log_std_scale: float = 1.0
    log_std_min: Optional[float] = None
    log_std_max: Optional[float] = None
    tanh_squash: bool = True

    @nn.compact
    def __call__(self, observations, temperature: float = 1.0, training: bool = False):
        outputs = MLP(self.hidden_dims, activate_final=True)(observations, training=training)
        means = nn.Dense(self.action_dim, kernel_init=default_init())(outputs)
        if self.state_dependent_std:
            log_stds = nn.Dense(self.action_dim, kernel_init=default_init(self.log_std_scale))(
                outputs
            )
        else:
            log_stds = self.param("log_stds", nn.initializers.zeros, (self.action_dim,))
        log_stds = jnp.clip(log_stds, self.log_std_min or -10.0, self.log_std_max or 2.0)
        if self.tanh_squash:
            means = nn.tanh(means)
        return means, jnp.exp(log_stds) * temperature


class Categorical(NamedTuple):
    logits: jnp.ndarray

    def entropy(self):
        log_probs = jax.nn.log_softmax(self.logits)
        return -jnp.sum(jnp.exp(log_probs) * log_probs, axis=-1)


class ActorCritic(nn.Module):
    """Two towers and a choice of activation by its name."""

    action_dim: int
    activation: str = "tanh"

    @nn.compact
    def __call__(self, x):
        if self.activation == "relu":
            activation = nn.relu
        else:
            activation = nn.tanh
        zeros = nn.initializers.constant(0.0)
        actor = nn.Dense(6, kernel_init=default_init(), bias_init=zeros)(x)
        actor = activation(actor)
        actor = nn.Dense(6, kernel_init=default_init(), bias_init=zeros)(actor)
        actor = activation(actor)
        actor = nn.Dense(self.action_dim, kernel_init=default_init(0.01), bias_init=zeros)(actor)
        pi = Categorical(logits=actor)

        critic = nn.Dense(7, kernel_init=default_init(), bias_init=zeros)(x)
        critic = activation(critic)
        critic = nn.Dense(1, kernel_init=default_init(1.0), bias_init=zeros)(critic)
        return pi, jnp.squeeze(critic, axis=-1)


class DuelingQNetwork(nn.Module):
    n_actions: int
    n_atoms: int = 1

    def setup(self):
        self.torso = nn.Sequential([nn.Dense(8), nn.relu, nn.Dense(6), nn.relu])
        self.advantage = nn.Dense(self.n_actions * self.n_atoms)
        self.value = nn.Dense(self.n_atoms)

    def __call__(self, x):
        h = self.torso(x)
        advantage = self.advantage(h).reshape(x.shape[0], self.n_actions, self.n_atoms)
        value = self.value(h)[:, None, :]
        q = value + advantage - advantage.mean(axis=1, keepdims=True)
        return q.squeeze(-1) if self.n_atoms == 1 else nn.softmax(q, axis=-1)


class ImplicitQuantileNetwork(nn.Module):
    num_actions: int
    quantile_embedding_dim: int

    @nn.compact
    def __call__(self, x, taus):
        state = nn.relu(nn.Dense(6)(x))
        pi_range = jnp.pi * jnp.arange(1, self.quantile_embedding_dim + 1, dtype=jnp.float32)
        cosines = jnp.cos(taus[..., None] * pi_range)
        quantile_net = nn.Dense(features=state.shape[-1])(cosines)
        h = state[:, None, :] * nn.relu(quantile_net)
        h = nn.relu(nn.Dense(5)(h))
        return nn.Dense(self.num_actions)(h)


class PixelEncoder(nn.Module):
    features: Sequence[int] = (4, 6)
    strides: Sequence[int] = (2, 1)
    padding: str = "VALID"

    @nn.compact
    def __call__(self, observations: jnp.ndarray) -> jnp.ndarray:
        x = observations.astype(jnp.float32) / 255.0
        for features, stride in zip(self.features, self.strides):
            x = nn.Conv(
                features,
                kernel_size=(3, 3),
                strides=(stride, stride),
                kernel_init=default_init(),
                padding=self.padding,
            )(x)
            x = nn.relu(x)
        if len(x.shape) == 4:
            x = x.reshape([x.shape[0], -1])
        else:
            x = x.reshape([-1])
        return x


class PixelActorCritic(nn.Module):
    latent_dim: int
    action_dim: int

    @nn.compact
    def __call__(self, observations, actions=None):
        x = PixelEncoder()(observations)
        x = nn.Dense(self.latent_dim)(x)
        x = nn.LayerNorm()(x)
        x = nn.tanh(x)
        logits = nn.Dense(self.action_dim, name="pi")(x)
        if actions is not None:
            x = jnp.concatenate([x, actions], axis=-1)
        return logits, nn.Dense(1, name="v")(x)


class ScannedGRU(nn.Module):
    """A GRU over time that starts again where an episode ended."""

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
        return jnp.zeros((batch_size, hidden_size))


class RecurrentActorCritic(nn.Module):
    action_dim: int
    config: Any

    @nn.compact
    def __call__(self, hidden, x):
        obs, dones = x
        embedding = nn.Dense(self.config["FC_DIM"], kernel_init=default_init())(obs)
        embedding = nn.relu(embedding)
        hidden, embedding = ScannedGRU()(hidden, (embedding, dones))
        actor_mean = nn.Dense(self.config["HIDDEN"], kernel_init=default_init(2))(embedding)
        actor_mean = nn.Dense(self.action_dim)(nn.relu(actor_mean))
        critic = nn.Dense(1, kernel_init=default_init(1.0))(embedding)
        return hidden, Categorical(actor_mean), jnp.squeeze(critic, axis=-1)


class Temperature(nn.Module):
    initial_temperature: float = 1.0

    @nn.compact
    def __call__(self) -> jnp.ndarray:
        log_temp = self.param(
            "log_temp",
            init_fn=lambda key: jnp.full((), jnp.log(self.initial_temperature)),
        )
        return jnp.exp(log_temp)


class StackedPixels(nn.Module):
    """Frames and colors become one dimension, where there are both."""

    width: int

    @nn.compact
    def __call__(self, x):
        if len(x.shape) > 3:
            x = x.reshape((*x.shape[:2], -1))
        x = nn.relu(nn.Conv(features=3, kernel_size=(3, 3), strides=(2, 2))(x))
        x = jnp.reshape(x, -1)
        return nn.Dense(self.width)(x)
