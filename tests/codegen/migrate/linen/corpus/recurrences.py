"""scan over time: every step has the same weights."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Normalised(nn.Module):
    """All steps have the same statistics."""

    @nn.compact
    def __call__(self, carry, x):
        y = nn.BatchNorm(use_running_average=True)(nn.Dense(3)(x))
        return carry + y.sum(), y


class StatisticsOverTime(nn.Module):
    @nn.compact
    def __call__(self, xs):
        return nn.scan(
            Normalised,
            variable_broadcast=("params", "batch_stats"),
            split_rngs={"params": False},
        )()(0.0, xs)


XS = jnp.linspace(-1, 1, 40).reshape(2, 4, 5)

EXAMPLES = [
    Example(Build("StatisticsOverTime"), XS),
]
