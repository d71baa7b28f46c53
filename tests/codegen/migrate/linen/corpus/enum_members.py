"""Members of Enums, numbers that are computed, and constants that are bound more than once."""

import enum
import math

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, Ref


class Mode(enum.Enum):
    A = 1
    B = 2
    ALIAS = 1  # noqa: PIE796  # an alias is the same member


class Text(str, enum.Enum):
    RELU = "relu"
    GELU = "gelu"


class Head(nn.Module):
    mode: Mode
    features: int = 4

    @nn.compact
    def __call__(self, x):
        if self.mode is Mode.A:
            return nn.Dense(self.features)(x)
        return nn.Dense(self.features)(x) * 2


class Matched(nn.Module):
    mode: Mode = Mode.B

    @nn.compact
    def __call__(self, x):
        match self.mode:
            case Mode.A:
                x = nn.Dense(6)(x)
            case Mode.B:
                x = nn.Dense(7)(x)
        return nn.Dense(2)(x)


class Passes(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = Head(Mode.A)(x)
        return Head(mode=Mode.B, features=5)(x)


class Twice(nn.Module):
    width = 3
    width = 5  # noqa: PIE794  # what counts is the last one

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Config:
    width = 3
    rate = 2
    rate = 7  # noqa: PIE794  # what counts is the last one
    wide = 4
    if math.pi > 3:
        wide = 6


Config.width = 9


class OfConfig(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(Config.width)(x)
        x = nn.Dense(Config.wide)(x)
        return nn.Dense(Config.rate)(x)


class Aug(nn.Module):
    width = 3
    width += 4

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class ClassMode(nn.Module):
    mode = Mode.B

    @nn.compact
    def __call__(self, x):
        if self.mode is Mode.B:
            return nn.Dense(3)(x)
        return nn.Dense(4)(x)


def head_of(mode, x):
    if mode is Mode.A:
        return nn.Dense(3)(x)
    return nn.Dense(4)(x)


class ByHelper(nn.Module):
    @nn.compact
    def __call__(self, x):
        return head_of(Mode.B, head_of(Mode.A, x))


WIDTH = 4
WIDTH = 6


class Aliased(nn.Module):
    @nn.compact
    def __call__(self, x):
        mode = Mode.ALIAS
        if mode is Mode.A:
            return nn.Dense(3)(x)
        return nn.Dense(4)(x)


class Names(nn.Module):
    """The text of a member is no text."""

    mode: Text = Text.RELU

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(3, name=f"dense_{Mode.A.name}")(x)
        return nn.Dense(3, name="out_" + Text.GELU.value)(x)


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("Head", Ref("Mode.A")), X),
    Example(Build("Head", Ref("Mode.B")), X),
    Example(Build("Head", Ref("Mode.ALIAS")), X),
    Example(Build("Matched"), X),
    Example(Build("Matched", Ref("Mode.A")), X),
    Example(Build("Passes"), X),
    Example(Build("Twice"), X),
    Example(Build("OfConfig"), X),
    Example(Build("Aug"), X),
    Example(Build("ClassMode"), X),
    Example(Build("ByHelper"), X),
    Example(Build("Aliased"), X),
    Example(Build("Names"), X),
]
