"""Indices of which nothing is known."""

import flax.linen as nn
import jax.numpy as jnp
import numpy as np


def order_of(count):
    found = np.zeros(count, dtype=int)
    for k in range(count):
        while k > 0 and found[k - 1] > 3:
            break
        found[k] = count - 1 - k
    return jnp.array(list(reversed(list(found))))


class Reordered(nn.Module):
    """Whole slices keep the last axis."""

    size: int = 4

    @nn.compact
    def __call__(self, x):
        order = order_of(x.shape[1])
        y = nn.Dense(self.size)(x)[:, order, :]
        y = nn.Dense(3)(y[order, :, :][:, 0])
        return nn.Dense(2)(y[None, order, :])


class TurnedAxis(nn.Module):
    """What the index takes from the last axis is not known: a person must look."""

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(x[..., order_of(x.shape[-1])])
