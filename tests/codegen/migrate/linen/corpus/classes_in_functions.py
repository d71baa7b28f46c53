"""Classes that a function defines: one constructs another one, by the name that it has there."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


def gated(size):
    """Return a class of modules with that many features."""

    class Gate(nn.Module):
        @nn.compact
        def __call__(self, inputs):
            return nn.sigmoid(nn.Dense(size)(inputs))

    class Gated(nn.Module):
        @nn.compact
        def __call__(self, inputs):
            return Gate()(inputs) * nn.Dense(size)(inputs)

    return Gated


GatedFour = gated(4)


X = jnp.linspace(-1.0, 1.0, 6).reshape(2, 3)

EXAMPLES = [Example(Build("GatedFour"), X)]
