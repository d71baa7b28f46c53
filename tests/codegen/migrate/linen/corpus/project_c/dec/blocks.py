"""A module whose name another package has, too."""

import flax.linen as nn

WIDTH = 7


class Block(nn.Module):
    width: int = WIDTH
    out: int = 2

    @nn.compact
    def __call__(self, x):
        x = nn.tanh(nn.Dense(self.width)(x))
        return nn.Dense(self.out)(x)
