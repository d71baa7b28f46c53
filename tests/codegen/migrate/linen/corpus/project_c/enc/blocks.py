"""A module whose name another package has, too."""

import flax.linen as nn

WIDTH = 5


class Block(nn.Module):
    width: int = WIDTH

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.width)(x))
