"""Loops and branches of jax in compact methods, whose functions only compute."""

import functools

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax import lax

from typed_nnx_codegen.verify.examples import Build, Example


def _weighted(query, keys, chunk: int = 2):
    count, width = keys.shape[-2:]

    @functools.partial(jax.checkpoint, prevent_cse=False)
    def summed(query, part):
        weights = jnp.exp(jnp.einsum("qd,kd->qk", query, part))
        return jnp.einsum("qk,kd->qd", weights, part), weights.sum(axis=-1)

    def piece(start):
        part = lax.dynamic_slice(keys, (start, 0), slice_sizes=(chunk, width))
        return summed(query, part)

    values, weights = jax.lax.map(f=piece, xs=jnp.arange(0, count, chunk))
    return values.sum(axis=0) / jnp.expand_dims(weights, -1).sum(axis=0)


class MappedAttention(nn.Module):
    """Attention over pieces, then a projection of what a mapped function returned."""

    width: int
    features: int

    @nn.compact
    def __call__(self, x):
        query = nn.Dense(self.width, name="query")(x)
        keys = nn.Dense(self.width, name="keys")(x)
        mixed = _weighted(query, keys)
        return nn.Dense(self.features)(mixed)


class ScannedSums(nn.Module):
    """A running state beside what each step gives."""

    features: int

    @nn.compact
    def __call__(self, x):
        drive = nn.Dense(self.features)(x)

        def step(state, inputs):
            state = 0.5 * state + inputs
            return state, jnp.concatenate([state, inputs], axis=-1)

        last, steps = jax.lax.scan(step, jnp.zeros((self.features,)), drive)
        return nn.Dense(3, name="out")(steps), nn.Dense(2, name="last")(last)


class ScannedCount(nn.Module):
    """A scan without inputs: a counter and chunks."""

    chunk: int = 2

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(6)(x)

        def step(start, _):
            return start + self.chunk, lax.dynamic_slice(h, (start, 0), (self.chunk, 6))

        _, parts = lax.scan(step, init=0, xs=None, length=h.shape[0] // self.chunk)
        return nn.Dense(4)(jnp.concatenate(parts, axis=0))


class CarriedByLayers(nn.Module):
    """A loop that calls layers which exist already."""

    features: int = 4

    def setup(self):
        self.enter = nn.Dense(self.features)
        self.step = nn.Dense(self.features)
        self.leave = nn.Dense(2)

    def __call__(self, x):
        h = self.enter(x)
        h = self.step(h)

        def once(state, _):
            return jnp.tanh(self.step(state)), None

        if not self.is_initializing():
            h, _ = jax.lax.scan(once, h, None, length=2)
        return self.leave(h)


class SplitInTheMiddle(nn.Module):
    """A split along an axis that is the last one only where the input has three axes."""

    features: int

    @nn.compact
    def __call__(self, x):
        first, second = jnp.split(nn.Dense(self.features)(x), 2, axis=2)
        return nn.Dense(3)(first * nn.gelu(second))


class GatedBlock(nn.Module):
    """Calls a module that splits along an axis in the middle."""

    features: int

    @nn.compact
    def __call__(self, x):
        return x + nn.Dense(x.shape[-1])(SplitInTheMiddle(self.features)(x))


class FoldedPieces(nn.Module):
    """Pieces of a mapped function, one after the other along their last axis."""

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(4)(x)
        pieces = jax.lax.map(lambda row: row.reshape(2, 2), h)
        return nn.Dense(3)(jnp.concatenate(pieces, axis=-1)), nn.Dense(2)(jnp.concatenate(pieces))


class Repeats(nn.Module):
    """Loops whose state keeps its shape, around a layer that is built before."""

    @nn.compact
    def __call__(self, x):
        mix = nn.Dense(4)
        x = mix(nn.Dense(4)(x))
        x = jax.lax.fori_loop(0, 3, lambda i, state: mix(state) + i, x)
        count, x = jax.lax.while_loop(
            lambda state: state[0] < 2, lambda state: (state[0] + 1, jnp.sin(state[1])), (0, x)
        )
        return nn.Dense(2)(x), count


_X = jnp.linspace(-1.0, 1.0, 20).reshape(4, 5)

EXAMPLES = [
    Example(Build("MappedAttention", 6, 3), _X),
    Example(Build("ScannedSums", 4), _X),
    Example(Build("ScannedCount"), _X),
    Example(Build("CarriedByLayers"), _X),
    Example(Build("SplitInTheMiddle", 6), jnp.ones((2, 3, 5))),
    Example(Build("SplitInTheMiddle", 6), jnp.ones((2, 3, 4, 5)), name="four axes"),
    Example(Build("GatedBlock", 6), jnp.ones((2, 3, 5))),
    Example(Build("FoldedPieces"), _X),
    Example(Build("Repeats"), _X),
]
