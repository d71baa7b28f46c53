"""Partials of modules of another file, by their names."""

import functools

import flax.linen as nn

from typed_nnx_codegen.verify.examples import Build, Example, wave

from . import named_partials
from .named_partials import Scaled, Twice

Half = functools.partial(Scaled, scale=0.5)


class Named(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Twice(4)(named_partials.Twice(3)(x)) + Half(4)(x)


class InSetup(nn.Module):
    def setup(self):
        self.first = Twice(5)
        self.others = [Half(features=5) for _ in range(2)]
        self.last = named_partials.Four(act=nn.tanh)

    def __call__(self, x):
        x = self.first(x)
        for other in self.others:
            x = x + other(x)
        return self.last(x)


class Transformed(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.remat(Twice)(4)(x)
        axes = {"variable_axes": {"params": 0}, "split_rngs": {"params": True}}
        return nn.vmap(Half, **axes)(4)(x)


class AsAField(nn.Module):
    block: object = Twice

    @nn.compact
    def __call__(self, x):
        return self.block(3)(x)


X = wave(2, 4)

EXAMPLES = [
    Example(Build("Named"), X),
    Example(Build("InSetup"), X),
    Example(Build("Transformed"), X),
    Example(Build("AsAField"), X),
]
