"""Linen modules as agents have them: images of any rank, recurrent policies, actors and critics."""

import functools

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class ScaledHead(nn.Module):
    """A layer whose settings take several lines and call jax.numpy."""

    width: int
    is_last: bool = False

    @nn.compact
    def __call__(self, x):
        init = nn.initializers.variance_scaling(
            scale=1.0 / jnp.sqrt(3.0), mode="fan_in", distribution="uniform"
        )
        chosen = (init
                  if not self.is_last
                  else nn.initializers.zeros)  # fmt: skip
        if (self.width > 3
                and not self.is_last):  # fmt: skip
            x = nn.relu(nn.Dense(self.width)(x))
        return nn.Dense(self.width, kernel_init=chosen)(x)


class StackedFrames(nn.Module):
    """Joins the last two axes where there are more than three."""

    @nn.compact
    def __call__(self, x):
        if len(x.shape) > 3:
            x = x.reshape((*x.shape[:2], -1))
        x = nn.relu(nn.Conv(4, (3, 3), strides=(2, 2))(x))
        return nn.Dense(3)(jnp.reshape(x, -1))


class MaybeFlat(nn.Module):
    """Flattens what is no batch of vectors."""

    @nn.compact
    def __call__(self, x):
        if x.ndim > 2:
            x = x.reshape((x.shape[0], -1))
        return nn.Dense(3)(x)


class Batched(nn.Module):
    """Adds a batch axis where there is none; only the last size matters."""

    @nn.compact
    def __call__(self, x):
        if x.ndim == 1:
            x = x[None]
        return nn.Dense(3)(x)


class ResettingMemory(nn.Module):
    """A recurrent layer that begins again where an episode ends."""

    @functools.partial(
        nn.scan,
        variable_broadcast="params",
        in_axes=0,
        out_axes=0,
        split_rngs={"params": False},
    )
    @nn.compact
    def __call__(self, carry, x):
        inputs, ends = x
        fresh = self.first(inputs.shape[0], inputs.shape[1])
        carry = jnp.where(ends[:, None], fresh, carry)
        return nn.GRUCell(features=inputs.shape[1])(carry, inputs)

    @staticmethod
    def first(batch, width):
        cell = nn.GRUCell(features=width)
        return cell.initialize_carry(jax.random.PRNGKey(0), (batch, width))


class RecurrentPolicy(nn.Module):
    """Logits of a memory over encoded observations."""

    width: int = 6

    @nn.compact
    def __call__(self, carry, x):
        observed, ends = x
        encoded = nn.relu(nn.Dense(self.width)(observed))
        carry, encoded = ResettingMemory()(carry, (encoded, ends))
        return carry, nn.Dense(2)(encoded)


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


_STEPS = (jnp.ones((5, 3, 4)), jnp.arange(15).reshape(5, 3) % 4 == 0)

EXAMPLES = [
    Example(Build("ScaledHead", 4), jnp.ones((2, 3))),
    Example(Build("ScaledHead", 4, is_last=True), jnp.ones((2, 3)), name="last"),
    Example(Build("StackedFrames"), jnp.ones((8, 8, 3)), name="three axes"),
    Example(Build("StackedFrames"), jnp.ones((8, 8, 3, 2)), name="four axes"),
    Example(Build("MaybeFlat"), jnp.ones((2, 3)), name="vectors"),
    Example(Build("MaybeFlat"), jnp.ones((2, 3, 4)), name="matrices"),
    Example(Build("Batched"), jnp.ones((3,))),
    Example(Build("RecurrentPolicy"), jnp.ones((3, 6)), _STEPS),
    Example(Build("Framed"), jnp.ones((2, 3, 6))),
    Example(Build("ActorCritic"), jnp.ones((2, 3)), method="judge", name="one head"),
    Example(Build("Agent"), jnp.ones((2, 6))),
]
