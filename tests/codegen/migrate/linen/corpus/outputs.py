"""Results and inputs that are more than one array."""

from typing import Dict, NamedTuple

import flax.struct
import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class Moments(NamedTuple):
    mean: jax.Array
    log_std: jax.Array


@flax.struct.dataclass
class DiagonalGaussian:
    """A distribution that a model returns."""

    mean: jax.Array
    log_var: jax.Array

    def mode(self):
        return self.mean

    def kl(self):
        return 0.5 * jnp.sum(self.mean**2 + jnp.exp(self.log_var) - 1.0 - self.log_var, axis=-1)


class MomentHead(nn.Module):
    size: int

    @nn.compact
    def __call__(self, x) -> Moments:
        mean = nn.Dense(self.size, name="mean")(x)
        log_std = self.param("log_std", nn.initializers.zeros, (self.size,))
        return Moments(mean, jnp.broadcast_to(log_std, mean.shape))


class MomentUser(nn.Module):
    @nn.compact
    def __call__(self, x):
        mean, log_std = MomentHead(4)(nn.Dense(5)(x))
        value = nn.Dense(1)(mean + jnp.exp(log_std))
        moments = MomentHead(3)(mean)
        return value, nn.Dense(2)(moments.log_std)


class GaussianEncoder(nn.Module):
    latent: int

    @nn.compact
    def __call__(self, x):
        h = nn.swish(nn.Dense(7)(x))
        mean, log_var = jnp.split(nn.Dense(2 * self.latent)(h), 2, axis=-1)
        return DiagonalGaussian(mean, jnp.clip(log_var, -30.0, 20.0))


class GaussianUser(nn.Module):
    latent: int = 3

    def setup(self):
        self.encoder = GaussianEncoder(self.latent)
        self.decoder = nn.Dense(6)

    def __call__(self, x):
        posterior = self.encoder(x)
        return self.decoder(posterior.mode()), posterior.kl()


class DictInput(nn.Module):
    """Observations in a dict with widths of their own."""

    width: int = 4

    @nn.compact
    def __call__(self, observations: Dict[str, jax.Array]):
        image = observations["image"]
        h = nn.relu(nn.Conv(3, (3, 3), strides=(2, 2))(image))
        h = h.reshape(h.shape[0], -1)
        state = nn.Dense(self.width, name="state")(observations["state"])
        x = jnp.concatenate([h, state], axis=-1)
        if "goal" in observations:
            x = jnp.concatenate([x, nn.Dense(2, name="goal")(observations["goal"])], axis=-1)
        return nn.Dense(self.width)(x)


class ManyArguments(nn.Module):
    """Positional, keyword-only and starred arguments."""

    width: int

    @nn.compact
    def __call__(self, obs, action, *extras, goal=None, **context):
        parts = [obs, action, *extras]
        if goal is not None:
            parts.append(goal)
        x = jnp.concatenate(parts, axis=-1)
        for key in sorted(context):
            x = x + nn.Dense(x.shape[-1], name=f"context_{key}")(context[key])
        return nn.Dense(self.width)(x)


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
IMAGE = jnp.sin(jnp.arange(2 * 6 * 6 * 3.0)).reshape(2, 6, 6, 3)
STATE = jnp.cos(jnp.arange(10.0)).reshape(2, 5)

EXAMPLES = [
    Example(Build("MomentHead", 4), X),
    Example(Build("MomentUser"), X),
    Example(Build("GaussianEncoder", 3), X),
    Example(Build("GaussianUser"), X),
    Example(Build("DictInput"), {"image": IMAGE, "state": STATE}),
    Example(Build("DictInput"), {"image": IMAGE, "state": STATE, "goal": STATE[:, :2]}),
    Example(Build("ManyArguments", 3), X, X[:, :2]),
    Example(Build("ManyArguments", 3), X, X[:, :2], X[:, :1], goal=X[:, :3], time=X[:, :2]),
]
