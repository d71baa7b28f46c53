"""Arrays that are None unless a setting says otherwise, and what is built where they are there."""

import itertools

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class SkipOrNot(nn.Module):
    width: int
    skip: bool = False
    deep: bool = False

    @nn.compact
    def __call__(self, x):
        y = None
        if self.skip:
            y = nn.Dense(self.width)(x)
            z = None
            if self.deep:
                z = nn.Dense(2)(x)
            if z is not None:
                y = jnp.concatenate([y, nn.Dense(3)(z)], -1)
        if y is None:
            h = nn.Dense(4)(x)
        else:
            h = nn.Dense(5)(y)
        h = jnp.concatenate((h, y), axis=-1) if y is not None else h
        return nn.Dense(2)(h)


class Nested(nn.Module):
    """Two settings have to agree."""

    skip: bool = False
    deep: bool = False

    @nn.compact
    def __call__(self, x):
        z = None
        if self.skip:
            if self.deep:
                z = nn.Dense(2)(x)
        if z is not None:
            x = jnp.concatenate([x, nn.Dense(3)(z)], -1)
        return nn.Dense(2)(x)


class Conditioned(nn.Module):
    noise: int
    classes: int

    @nn.compact
    def __call__(self, z, c=None):
        x = None
        if self.noise > 0:
            x = jnp.tanh(z)
        if self.classes > 0:
            y = nn.Dense(5)(c)
            x = jnp.concatenate((x, y), axis=1) if x is not None else y
        for _ in range(max(self.noise, 1)):
            x = nn.Dense(4)(x)
        return x


class EitherArgument(nn.Module):
    """Only the call says whether it is there."""

    @nn.compact
    def __call__(self, x, c=None, flag: bool = True):
        y = None
        if flag:
            y = c
        if y is not None:
            x = x + nn.Dense(3, name="more")(y)
        return nn.Dense(2, name="last")(x)


class Before(nn.Module):
    """An iteration has what the one before made."""

    steps: int

    @nn.compact
    def __call__(self, x):
        w = None
        for _ in range(self.steps):
            if w is not None:
                x = x + nn.Dense(3)(w)
            w = nn.Dense(3)(x)
        return nn.Dense(2)(x)


def exists(value):
    return value is not None


class AskedByFunction(nn.Module):
    """A function of the file asks whether an argument is given."""

    @nn.compact
    def __call__(self, x, c=None):
        h = nn.Dense(4, name="first")(x)
        if exists(c):
            h = h + nn.Dense(4, name="more")(c)
        return nn.Dense(2, name="last")(h)


class Reads(nn.Module):
    """Without a context it reads its own input."""

    features: int

    @nn.compact
    def __call__(self, x, context=None):
        context = x if context is None else context
        return nn.Dense(self.features)(x) + nn.Dense(self.features)(context)


class ReadsSometimes(nn.Module):
    """A field says whether the part is given the context."""

    crosses: bool = False

    def setup(self):
        self.part = Reads(4)
        self.other = Reads(4)

    def __call__(self, x, context):
        if self.crosses:
            x = self.part(x, context)
        else:
            x = self.part(x)
        return self.other(x, context)


X = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
BOTH = list(itertools.product((False, True), repeat=2))
ROWS, CONTEXT = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5), jnp.linspace(0.0, 1.0, 14).reshape(2, 7)

EXAMPLES = [
    *(Example(Build("SkipOrNot", 2, *flags), X, name=f"SkipOrNot {flags}") for flags in BOTH),
    *(Example(Build("Nested", *flags), X, name=f"Nested {flags}") for flags in BOTH),
    Example(Build("Conditioned", 2, 0), X),
    Example(Build("Conditioned", 2, 1), X, X + 1, name="Conditioned, both"),
    Example(Build("Conditioned", 0, 1), X, X + 1, name="Conditioned, classes"),
    Example(Build("EitherArgument"), X, X + 1),
    Example(Build("EitherArgument"), X, X + 1, flag=False, name="EitherArgument, not used"),
    Example(Build("Before", 2), X),
    Example(Build("AskedByFunction"), X),
    Example(Build("AskedByFunction"), X, X[:, :2], name="AskedByFunction, given"),
    Example(Build("Reads", 3), ROWS),
    Example(Build("Reads", 3), ROWS, CONTEXT),
    Example(Build("ReadsSometimes"), ROWS, CONTEXT),
    Example(Build("ReadsSometimes", crosses=True), ROWS, CONTEXT),
]
