"""Recurrent cells that fields hold as classes."""

import functools
from typing import Any

import flax.linen as nn


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
