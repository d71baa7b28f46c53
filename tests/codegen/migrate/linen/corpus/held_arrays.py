"""Fields that hold arrays, in tuples and dicts too."""

from typing import Any, Dict, Sequence, Tuple

import flax.linen as nn
import jax
import jax.numpy as jnp


class Shifted(nn.Module):
    shift: jax.Array

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x + self.shift)


class StartedByPair(nn.Module):
    state: Tuple[Any]

    @nn.compact
    def __call__(self, x):
        scale, shift = self.state
        return nn.Dense(3)(x * scale + shift)


class ManyArrays(nn.Module):
    arrays: Sequence[jnp.ndarray]

    @nn.compact
    def __call__(self, x):
        for one in self.arrays:
            x = x + one
        return nn.Dense(3)(x)


class NamedArrays(nn.Module):
    arrays: Dict[str, jnp.ndarray]

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x + self.arrays["one"])


class Holder(nn.Module):
    @nn.compact
    def __call__(self, x):
        state = (x[0] * 2, x[1])
        return StartedByPair(state=state)(x)
