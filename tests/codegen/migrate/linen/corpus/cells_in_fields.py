"""Recurrent cells that fields hold as classes."""

import functools
from typing import Any

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class CellInField(nn.Module):
    cell: Any = nn.GRUCell
    features: int = 3

    @nn.compact
    def __call__(self, x):
        x = nn.RNN(self.cell(self.features))(x)
        return nn.Dense(2)(x)


class GivesCells(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = CellInField(cell=nn.MGUCell)(x)
        x = CellInField(cell=nn.LSTMCell, features=5)(x)
        return CellInField()(x)


class PartialCell(nn.Module):
    make: Any = functools.partial(nn.GRUCell, features=4)

    @nn.compact
    def __call__(self, x):
        return nn.RNN(self.make())(x)


X = jnp.linspace(-1.0, 1.0, 24).reshape(2, 3, 4)
EXAMPLES = [
    Example(Build("CellInField"), X),
    Example(Build("GivesCells"), X),
    Example(Build("PartialCell"), X),
]
