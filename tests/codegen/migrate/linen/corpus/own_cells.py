"""Cells that a project defines."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class TwoLayerCell(nn.RNNCellBase):
    features: int
    depth: int = 2

    @nn.compact
    def __call__(self, carry, inputs):
        states = []
        for layer in range(self.depth):
            state, inputs = nn.LSTMCell(self.features, name=f"layer_{layer}")(carry[layer], inputs)
            states.append(state)
        return tuple(states), nn.Dense(3)(inputs)

    def initialize_carry(self, rng, input_shape):
        zeros = jnp.zeros((*input_shape[:-1], self.features))
        return tuple((zeros, zeros) for _ in range(self.depth))

    @property
    def num_feature_axes(self):
        return 1


class UsesCell(nn.Module):
    @nn.compact
    def __call__(self, x):
        cell = TwoLayerCell(4)
        zeros = jnp.zeros((x.shape[0], 4))
        carry = ((zeros, zeros), (zeros, zeros))
        carry, first = cell(carry, x[:, 0])
        carry, second = cell(carry, x[:, 1])
        return first + second


class RunsCell(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.RNN(TwoLayerCell(4))(x)


X = jnp.linspace(-1.0, 1.0, 24).reshape(2, 3, 4)
Z = jnp.full((2, 4), 0.1)
EXAMPLES = [
    Example(Build("TwoLayerCell", 4), ((Z, Z), (Z, -Z)), X[:, 0]),
    Example(Build("UsesCell"), X),
    Example(Build("RunsCell"), X),
]
