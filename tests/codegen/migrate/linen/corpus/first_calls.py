"""What only the first call of Linen decides: projections that sizes ask for, variables that it writes."""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


class Residual(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        residual = x
        x = nn.relu(nn.Dense(self.width)(x))
        x = nn.Dense(self.width)(x)
        if residual.shape != x.shape:
            residual = nn.Dense(self.width, use_bias=False, name="proj")(residual)
        return x + residual


class Residuals(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (4, 4, 6):
            x = Residual(width)(x)
        return x


class Strided(nn.Module):
    """Strides, one number or one for each axis, ask for a projection, too."""

    width: int
    strides: Any = (1, 1)
    rate: int = 1

    @nn.compact
    def __call__(self, x):
        residual = x
        x = nn.relu(nn.Conv(self.width, (3, 3), self.strides)(x))
        x = nn.Conv(self.width, (3, 3), strides=(self.rate, self.rate))(x)
        if x.shape == residual.shape:
            return x + residual
        strides = tuple(self.rate * one for one in np.broadcast_to(self.strides, (2,)))
        return x + nn.Conv(self.width, (1, 1), strides, name="proj")(residual)


class BeginsWithNone(nn.Module):
    """`init` leaves an array in it."""

    @nn.compact
    def __call__(self, x):
        last = self.variable("memory", "last", lambda: None)
        y = x if last.value is None else x + last.value
        last.value = x
        return y


class GrowingBuffer(nn.Module):
    """`init` leaves rows in it."""

    @nn.compact
    def __call__(self, x):
        seen = self.variable("memory", "seen", jnp.zeros, (0, 4))
        seen.value = jnp.concatenate([seen.value, x], axis=0)
        return x


X = jnp.sin(jnp.arange(8.0)).reshape(2, 4)
IMAGES = jnp.sin(jnp.arange(128.0)).reshape(2, 4, 4, 4)

EXAMPLES = [
    Example(Build("Residual", 4), X),
    Example(Build("Residual", 3), X),
    Example(Build("Residuals"), X),
    Example(Build("Strided", 4), IMAGES),
    Example(Build("Strided", 4, 1), IMAGES),
    Example(Build("Strided", 4, (2, 2)), IMAGES),
    Example(Build("Strided", 4, 2), IMAGES),
    Example(Build("Strided", 4, rate=2), IMAGES),
    Example(Build("Strided", 3), IMAGES),
    Example(Build("BeginsWithNone"), X, mutable=("memory",)),
    Example(Build("GrowingBuffer"), X, mutable=("memory",)),
]
