"""Indices of which nothing is known."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


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


class Reshaped(nn.Module):
    """Nothing is known of an array but what its own shape is made to."""

    size: int = 6

    def _merged(self, x):
        return x.reshape(x.shape[:2] + (self.size,))

    @nn.compact
    def __call__(self, x):
        rows = [nn.Dense(self.size)(x), jnp.ones_like(x)][:1]
        y = jax.tree.map(lambda row: row.reshape(*row.shape[:2], 2, 3), rows)[0]
        y = nn.Dense(4)(self._merged(y))
        rows, columns = y.shape[:2]
        return nn.Dense(2)(jax.tree.leaves(y)[0].reshape(rows, columns, 4))


X = jnp.linspace(-1.0, 1.0, 45).reshape(3, 3, 5)

EXAMPLES = [Example(Build(name), X) for name in ("Reordered", "TurnedAxis", "Reshaped")]
