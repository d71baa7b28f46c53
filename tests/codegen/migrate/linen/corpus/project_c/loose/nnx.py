"""A module of a folder without an `__init__`, which has the name of a library and names of it."""

import flax.linen as nn

from ..parts import mlp
from ..resnet import WIDTH

Param = WIDTH


class Head(nn.Module):
    act: object = mlp

    @nn.compact
    def __call__(self, x):
        return self.act(nn.Dense(Param)(x))
