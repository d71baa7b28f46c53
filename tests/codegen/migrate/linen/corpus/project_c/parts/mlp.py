"""A module that its package hides."""

import flax.linen as nn


class MLP(nn.Module):
    width: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(nn.relu(nn.Dense(2 * self.width)(x)))


def mlp(x):
    return nn.tanh(x)
