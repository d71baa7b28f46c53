"""What decorators, properties that functions make, and methods do with the class of a module."""

import dataclasses

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

MODELS = {}


def registered(cls):
    MODELS[cls.__name__] = cls
    return cls


def with_config(cls):
    """Keep the fields of each object by name."""
    init = cls.__init__

    def kept(self, *args, **kwargs):
        init(self, *args, **kwargs)
        MODELS[cls.__name__] = [one.name for one in dataclasses.fields(self)]

    cls.__init__ = kept
    return cls


def kept_values():
    """Return a property that keeps values by name."""

    @property
    def kept(self):
        return Kept(self)

    return kept


class Kept:
    def __init__(self, module):
        self.module = module

    def __setitem__(self, name, value):
        if self.module.scope is not None:
            self.module.sow("intermediates", name, value)


@registered
class Registered(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


@with_config
class WithConfig(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Described(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        sizes = [getattr(self, one.name) for one in dataclasses.fields(self) if one.name == "width"]
        return nn.Dense(self.width)(x) * jnp.array(sizes)


class KeepsByProperty(nn.Module):
    kept = kept_values()

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        self.kept["hidden"] = x
        return nn.relu(x)


class AroundKeeping(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(KeepsByProperty()(x))


X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
EXAMPLES = [
    Example(Build("Registered", width=3), X),
    Example(Build("WithConfig"), X),
    Example(Build("Described"), X),
    Example(Build("KeepsByProperty"), X, mutable=("intermediates",)),
    Example(Build("AroundKeeping"), X),
]
