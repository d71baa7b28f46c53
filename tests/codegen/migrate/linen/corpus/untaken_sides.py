"""Helpers with sides that no call of the module takes."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class EndOfCall(nn.Module):
    """Only the call says which side is taken."""

    @nn.compact
    def __call__(self, x, kind: str = "wide"):
        x = nn.tanh(x)
        return self.end(x, kind)

    def end(self, x, kind):
        if kind == "narrow":
            return nn.Dense(3)(x)
        return nn.Dense(4)(x)


class Chosen(nn.Module):
    @nn.compact
    def __call__(self, x):
        return self.end(x, "wide")

    def end(self, x, kind):
        if kind == "narrow":
            return nn.Dense(3)(x)
        return nn.relu(nn.Dense(4)(x))


class ChosenElse(Chosen):
    """It takes the other side of the method that it inherits."""

    @nn.compact
    def __call__(self, x):
        return self.end(x, "narrow")


X = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
EXAMPLES = [
    Example(Build("EndOfCall"), X),
    Example(Build("EndOfCall"), X, "narrow", name="EndOfCall, narrow"),
    Example(Build("Chosen"), X),
    Example(Build("ChosenElse"), X),
]
