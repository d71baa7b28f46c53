"""Helpers with sides that no call of the module takes."""

import flax.linen as nn
import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def from_table(features, table, bias=True):
    if table is None:
        return nn.Dense(features, use_bias=bias)
    if bias:
        return nn.Dense(
            features,
            kernel_init=lambda *_: jnp.asarray(table[0]),
            bias_init=lambda *_: jnp.asarray(table[1]),
        )
    else:
        return nn.Dense(features, use_bias=False, kernel_init=lambda *_: jnp.asarray(table[0]))


def norm(kind, scale):
    if kind == "layer":
        made = nn.LayerNorm(use_scale=scale)
        return made
    elif kind == "rms":
        made = nn.RMSNorm(use_scale=scale)
        return made
    made = nn.GroupNorm(2)
    return made


class FromTables(nn.Module):
    width: int
    first: tuple | None = None

    @nn.compact
    def __call__(self, x):
        x = from_table(self.width, self.first)(x)
        x = norm("rms", True)(x)
        return from_table(2, None)(x)


class WithoutBias(nn.Module):
    width: int
    table: tuple | None = None

    @nn.compact
    def __call__(self, x):
        x = from_table(self.width, self.table, bias=False)(x)
        return self.end(x, "wide")

    def end(self, x, kind):
        if kind == "narrow":
            return nn.Dense(3)(x)
        x = nn.Dense(4)(x)
        return nn.relu(x)


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
TABLE = (tuple(map(tuple, np.cos(np.arange(12.0)).reshape(3, 4).tolist())), (0.1, 0.2, 0.3, 0.4))
EXAMPLES = [
    Example(Build("FromTables", 4), X),
    Example(Build("FromTables", 4, TABLE), X, name="FromTables, told"),
    Example(Build("WithoutBias", 4), X),
    Example(Build("WithoutBias", 4, TABLE), X, name="WithoutBias, told"),
    Example(Build("EndOfCall"), X),
    Example(Build("EndOfCall"), X, "narrow", name="EndOfCall, narrow"),
    Example(Build("Chosen"), X),
    Example(Build("ChosenElse"), X),
]
