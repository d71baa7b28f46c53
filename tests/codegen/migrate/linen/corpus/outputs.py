"""Results and inputs that are more than one array."""

import dataclasses
from typing import Any, Dict, NamedTuple, Optional, Tuple

import flax.struct
import jax
import jax.numpy as jnp
from flax import linen as nn


@flax.struct.dataclass
class EncoderOutput:
    last_hidden_state: jax.Array
    pooled: Optional[jax.Array] = None
    hidden_states: Optional[Tuple[jax.Array, ...]] = None


class Moments(NamedTuple):
    mean: jax.Array
    log_std: jax.Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Batch:
    tokens: jax.Array
    features: jax.Array


@flax.struct.dataclass
class DiagonalGaussian:
    """A distribution that a model returns."""

    mean: jax.Array
    log_var: jax.Array

    def mode(self):
        return self.mean

    def kl(self):
        return 0.5 * jnp.sum(self.mean**2 + jnp.exp(self.log_var) - 1.0 - self.log_var, axis=-1)


class OutputEncoder(nn.Module):
    width: int
    pool: bool = True

    @nn.compact
    def __call__(self, x, return_hidden: bool = False):
        h1 = nn.relu(nn.Dense(self.width)(x))
        h2 = nn.relu(nn.Dense(self.width + 1)(h1))
        pooled = nn.tanh(nn.Dense(self.width + 2)(h2.mean(axis=1))) if self.pool else None
        return EncoderOutput(
            last_hidden_state=h2,
            pooled=pooled,
            hidden_states=(h1, h2) if return_hidden else None,
        )


class OutputUser(nn.Module):
    """Takes widths from the fields of an output."""

    def setup(self):
        self.encoder = OutputEncoder(4)
        self.token_head = nn.Dense(3)
        self.pooled_head = nn.Dense(2)
        self.probe = nn.Dense(1)

    def __call__(self, x):
        out = self.encoder(x, return_hidden=True)
        return {
            "tokens": self.token_head(out.last_hidden_state),
            "pooled": self.pooled_head(out.pooled),
            "probe": self.probe(out.hidden_states[0]),
        }


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


class BatchInput(nn.Module):
    vocab: int

    @nn.compact
    def __call__(self, batch: Batch):
        tokens = nn.Embed(self.vocab, 4)(batch.tokens).mean(axis=1)
        return nn.Dense(3)(jnp.concatenate([tokens, nn.Dense(5)(batch.features)], axis=-1))


class TupleInput(nn.Module):
    """Unpacks a pair; returns a list and a dict in a tuple."""

    @nn.compact
    def __call__(self, pair, scale: float = 1.0):
        left, right = pair
        a = nn.Dense(4)(left)
        b = nn.Dense(3)(right) * scale
        return [a, b], {"sum": nn.Dense(2)(a) + nn.Dense(2)(b)}


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


class OptionalOutputs(nn.Module):
    """The form of the result depends on an argument."""

    features: int

    @nn.compact
    def __call__(self, x, return_features: bool = False, train: bool = False) -> Any:
        h = nn.relu(nn.Dense(self.features)(x))
        logits = nn.Dense(2)(h)
        if return_features:
            return logits, h
        return logits
