"""Cells in loops, and in layers that run them over time."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class CellInLoop(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        cell = nn.LSTMCell(self.features)
        carry = cell.initialize_carry(jax.random.key(0), x[:, 0].shape)
        outputs = []
        for t in range(x.shape[1]):
            carry, y = cell(carry, x[:, t])
            outputs.append(y)
        return jnp.stack(outputs, axis=1), carry


class CarryWithoutCell(nn.Module):
    """The first carry comes from a cell that has no parameters."""

    features: int

    @nn.compact
    def __call__(self, x):
        (c, h) = nn.OptimizedLSTMCell(self.features, parent=None).initialize_carry(
            jax.random.key(1), x[:, 0].shape
        )
        cell = nn.OptimizedLSTMCell(self.features)
        (c, h), y = cell((c, h), x[:, 0])
        (c, h), y = cell((c, h), x[:, 1])
        return nn.Dense(2)(y), c


class BothWays(nn.Module):
    """Built in setup, the cells belong to the layers; their carries are tuples."""

    features: int

    def setup(self):
        self.both = nn.Bidirectional(
            nn.RNN(nn.LSTMCell(self.features)), nn.RNN(nn.GRUCell(self.features))
        )
        self.head = nn.Dense(2)

    def __call__(self, x):
        return self.head(self.both(x))


class ReadsBothStates(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        forward = nn.RNN(nn.LSTMCell(self.features), return_carry=True)
        (c, h), ys = forward(x)
        return nn.Dense(2)(jnp.concatenate([c, h], -1)), ys


X = jnp.sin(jnp.arange(24.0)).reshape(2, 3, 4)

EXAMPLES = [
    Example(Build("CellInLoop", 5), X),
    Example(Build("CarryWithoutCell", 5), X),
    Example(Build("BothWays", 5), X),
    Example(Build("ReadsBothStates", 3), X),
]
