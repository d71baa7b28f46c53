"""Linen modules as agents have them: pixels and frames of any rank, recurrent networks, actors and critics."""

import functools
from typing import Dict, NamedTuple, Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax.linen.initializers import constant, orthogonal

from typed_nnx_codegen.verify.examples import Build, Example


class StackedFrames(nn.Module):
    """Joins the last two axes where there are more than three."""

    @nn.compact
    def __call__(self, x):
        if len(x.shape) > 3:
            x = x.reshape((*x.shape[:2], -1))
        x = nn.relu(nn.Conv(4, (3, 3), strides=(2, 2))(x))
        return nn.Dense(3)(jnp.reshape(x, -1))


class Batched(nn.Module):
    """Adds a batch axis where there is none; only the last size matters."""

    @nn.compact
    def __call__(self, x):
        if x.ndim == 1:
            x = x[None]
        return nn.Dense(3)(x)


class Flattened(nn.Module):
    """Needs the whole shape of its input."""

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x.reshape((x.shape[0], -1)))


class Framed(nn.Module):
    """Calls a module with another axis in front."""

    @nn.compact
    def __call__(self, x):
        return Flattened()(x[None])


class ActorCritic(nn.Module):
    """Two heads, each with a method of its own."""

    def setup(self):
        self.policy = nn.Dense(2)
        self.value = nn.Dense(1)

    def __call__(self, state):
        return self.act(state), self.judge(state)

    def act(self, state):
        return self.policy(state.reshape(-1))

    def judge(self, state):
        return self.value(state.reshape(-1))


class Agent(nn.Module):
    """Calls the methods of its heads, never the heads as a whole."""

    def setup(self):
        self.encoder = nn.Dense(5)
        self.heads = ActorCritic()

    def __call__(self, x):
        encoded = self.encoder(x.reshape(-1))
        return self.heads.act(encoded), self.heads.judge(encoded)


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


def default_init(scale: float = np.sqrt(2)):
    return nn.initializers.orthogonal(scale)


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


OBS = jnp.linspace(-1.0, 1.0, 3 * 2 * 4).reshape(3, 2, 4)

DONES = jnp.array([[False, False], [True, False], [False, True]])

CARRY = jnp.linspace(-0.5, 0.5, 2 * 8).reshape(2, 8)

PICTURE = jnp.linspace(0.0, 255.0, 2 * 3 * 12 * 12).reshape(2, 3, 12, 12)

ROWS = jnp.transpose(PICTURE, (0, 2, 3, 1)) / 255.0

PIXELS = jnp.linspace(0.0, 255.0, 2 * 9 * 9 * 3).reshape(2, 9, 9, 3)


EXAMPLES = [
    Example(Build("StackedFrames"), jnp.ones((8, 8, 3)), name="three axes"),
    Example(Build("StackedFrames"), jnp.ones((8, 8, 3, 2)), name="four axes"),
    Example(Build("Batched"), jnp.ones((3,))),
    Example(Build("Framed"), jnp.ones((2, 3, 6))),
    Example(Build("ActorCritic"), jnp.ones((2, 3)), method="judge", name="one head"),
    Example(Build("Agent"), jnp.ones((2, 6))),
    Example(Build("ResettingRNN"), CARRY, (jnp.ones((3, 2, 8)) * 0.3, DONES)),
    Example(Build("RecurrentActorCritic", 3, config={}), CARRY, (OBS, DONES)),
    Example(Build("Stage", 4, 1), ROWS),
    Example(Build("Encoder"), ROWS),
    Example(Build("ImpalaPolicy", 3), ROWS[0]),
    Example(Build("ImpalaPolicy", 3, 2), ROWS[0]),
    Example(Build("PixelEncoder"), PIXELS),
    Example(Build("PixelEncoder", features=(3, 4, 5), strides=(2, 2, 1), padding="SAME"), PIXELS),
    Example(Build("PixelActorCritic", 5, 3), PIXELS),
    Example(Build("PixelActorCritic", 5, 3), PIXELS, jnp.ones((2, 4))),
]
