"""Actors and critics."""

import functools
from typing import Any, NamedTuple, Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def default_init(scale: float = np.sqrt(2)):
    return nn.initializers.orthogonal(scale)


class Categorical(NamedTuple):
    logits: jnp.ndarray

    def entropy(self):
        log_probs = jax.nn.log_softmax(self.logits)
        return -jnp.sum(jnp.exp(log_probs) * log_probs, axis=-1)


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


PIXELS = jnp.linspace(0.0, 255.0, 2 * 9 * 9 * 3).reshape(2, 9, 9, 3)

EXAMPLES = [
    Example(Build("PixelEncoder"), PIXELS),
    Example(Build("PixelEncoder", features=(3, 4, 5), strides=(2, 2, 1), padding="SAME"), PIXELS),
    Example(Build("PixelActorCritic", 5, 3), PIXELS),
    Example(Build("PixelActorCritic", 5, 3), PIXELS, jnp.ones((2, 4))),
    Example(
        Build("RecurrentActorCritic", 3, {"FC_DIM": 4, "HIDDEN": 6}),
        jnp.ones((2, 4)),
        (jnp.ones((7, 2, 5)), jnp.zeros((7, 2), bool).at[3, 1].set(True)),
    ),
    Example(Build("ScannedGRU"), jnp.ones((2, 4)), (jnp.ones((6, 2, 4)), jnp.zeros((6, 2), bool))),
    Example(Build("StackedPixels", 4), jnp.ones((6, 5, 2))),
    Example(Build("StackedPixels", 4), jnp.ones((6, 5, 2, 3))),
]
