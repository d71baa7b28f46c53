"""Functions and methods that return a submodule, and class methods that construct a module."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave


class MLP(nn.Module):
    layers: int
    units: int
    bias: bool = True

    @classmethod
    def without_bias(cls, layers, units, name=None):
        return cls(layers=layers, units=units, bias=False, name=name)

    @classmethod
    def shallow(cls, **settings):
        return cls(layers=1, **settings)

    @staticmethod
    def narrow(units):
        return MLP(2, units)

    @nn.compact
    def __call__(self, x):
        for _ in range(self.layers):
            x = nn.tanh(nn.Dense(self.units, use_bias=self.bias)(x))
        return x


class ClassMethods(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = MLP.without_bias(2, 8, name="trunk")(x)
        x = MLP.shallow(units=4)(x) + MLP.narrow(4)(x)
        return nn.Dense(3)(x)


class ClassMethodsInSetup(nn.Module):
    def setup(self):
        self.trunk = MLP.without_bias(2, 8)
        self.head = MLP.narrow(4)

    def __call__(self, x):
        return self.head(self.trunk(x))


def narrow(units):
    return MLP.narrow(units)


class Through(nn.Module):
    @nn.compact
    def __call__(self, x):
        return narrow(3)(x)


def linear(features, scale=1.0, name=None):
    def kernel_init(key, shape, dtype=jnp.float32):
        return scale * nn.initializers.lecun_normal()(key, shape, dtype)

    return nn.Dense(
        features, kernel_init=kernel_init if scale != 1.0 else nn.initializers.ones, name=name
    )


class Named(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = linear(4)(x)
        x = linear(5, name="middle")(x)
        for width in (3, 4):
            x = nn.relu(linear(width)(x))
        last = linear(2)
        return last(x) + last(2 * x)


def norm_of(kind, name=None):
    if kind == "layer":
        return nn.LayerNorm(name=name)
    if kind == "rms":
        return nn.RMSNorm(name=name)
    raise ValueError(kind)


class Chosen(nn.Module):
    kind: str = "layer"

    @nn.compact
    def __call__(self, x):
        x = norm_of(self.kind)(nn.Dense(4)(x))
        x = norm_of(self.kind)(nn.relu(nn.Dense(4)(x)))
        return norm_of(self.kind, name="last")(x)


class ChosenInLoop(nn.Module):
    kind: str = "layer"

    @nn.compact
    def __call__(self, x):
        for i in range(2):
            x = norm_of(self.kind, name=f"norm_{i}")(nn.Dense(4)(x))
        return nn.Dense(2)(x)


class ChosenByFlag(nn.Module):
    flag: bool = True

    def make(self, units):
        if self.flag:
            return nn.Dense(units)
        return nn.Dense(units, use_bias=False)

    @nn.compact
    def __call__(self, x):
        if self.flag:
            x = self.make(3)(x)
        return self.make(2)(x)


class Template(nn.Module):
    def make(self):
        return nn.Dense(3)

    @nn.compact
    def __call__(self, x):
        return self.make()(x)


class OtherBias(Template):
    def make(self):
        return nn.Dense(5, use_bias=False)


class OtherClass(Template):
    def make(self):
        return nn.Conv(5, (3,))


class PassedOn(nn.Module):
    def make(self):
        return nn.Dense(3)

    def run(self, make, x):
        return make()(x)

    @nn.compact
    def __call__(self, x):
        return self.run(self.make, x) + self.make()(x)


class Optional(nn.Module):
    flag: bool = False

    def make(self):
        return nn.Dense(3) if self.flag else None

    @nn.compact
    def __call__(self, x):
        layer = self.make()
        return x if layer is None else layer(x)


class Lists(nn.Module):
    @nn.compact
    def __call__(self, x):
        blocks = [MLP.narrow(units) for units in (4, 3)]
        for block in blocks:
            x = block(x)
        return x


class Sequences(nn.Module):
    def pair(self, units):
        return nn.Sequential([nn.Dense(units), nn.relu, nn.Dense(units)])

    @nn.compact
    def __call__(self, x):
        return self.pair(3)(self.pair(4)(x))


EXAMPLES = [
    Example(Build("MLP", 2, 4), wave(2, 3)),
    Example(Build("ClassMethods"), wave(2, 3)),
    Example(Build("ClassMethodsInSetup"), wave(2, 3)),
    Example(Build("Through"), wave(2, 3)),
    Example(Build("Named"), wave(2, 3)),
    Example(Build("Chosen"), wave(2, 3)),
    Example(Build("Chosen", kind="rms"), wave(2, 3)),
    Example(Build("ChosenInLoop"), wave(2, 3)),
    Example(Build("ChosenInLoop", kind="rms"), wave(2, 3)),
    Example(Build("ChosenByFlag"), wave(2, 3)),
    Example(Build("ChosenByFlag", flag=False), wave(2, 3)),
    Example(Build("Template"), wave(2, 3)),
    Example(Build("OtherBias"), wave(2, 3)),
    Example(Build("OtherClass"), wave(2, 5, 3)),
    Example(Build("PassedOn"), wave(2, 3)),
    Example(Build("Optional"), wave(2, 3)),
    Example(Build("Optional", flag=True), wave(2, 3)),
    Example(Build("Lists"), wave(2, 3)),
    Example(Build("Sequences"), wave(2, 3)),
]
