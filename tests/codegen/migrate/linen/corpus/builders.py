"""Functions and helpers that build submodules for the modules that call them."""

from functools import partial
from typing import Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

scaled_normal = nn.initializers.variance_scaling(0.5, "fan_in", "normal")

# A layer without a bias.
plain = lambda features, name=None: nn.Dense(features, use_bias=False, name=name)  # noqa: E731


def block(x, features, kernel=(3, 3), act=nn.relu):
    """Convolve, normalise, bend."""
    x = nn.Conv(features, kernel, kernel_init=scaled_normal)(x)
    x = normalised(x)
    return act(x)


def normalised(x):
    return nn.GroupNorm(num_groups=2)(x)


def norm_of(kind, *args, **kwargs):
    if kind == "rms":
        return nn.RMSNorm(*args, **kwargs)
    elif kind == "layer":
        return nn.LayerNorm(*args, **kwargs)
    raise ValueError(f"no norm {kind}")


def noisy(features, scale):
    """Return a function that calls what is built here."""
    layer = nn.Dense(features)

    def apply(x):
        return scale * layer(x)

    return apply


def with_options(features, bias=None, dtype=None):
    options = {"dtype": dtype}
    if bias is not None:
        options["use_bias"] = bias
    options.update(kernel_init=scaled_normal)
    return nn.Dense(features, **options)


def make_stack(sizes, last=None):
    if last is None:
        return nn.Sequential([nn.Dense(sizes[0]), nn.gelu])
    return nn.Sequential([nn.Dense(sizes[0]), nn.gelu, nn.Dense(last)])


class Blocks(nn.Module):
    """Several calls of one function, in a loop too."""

    widths: Sequence[int]
    kind: str = "rms"

    @nn.compact
    def __call__(self, x):
        for width in self.widths:
            x = block(x, width)
        x = block(x, 6, kernel=(1, 1), act=nn.tanh)
        x = jnp.mean(x, axis=(1, 2))
        x = norm_of(self.kind, epsilon=1e-3)(x)
        return plain(3)(nn.relu(plain(5, name="last")(x)))


class Closures(nn.Module):
    """A function that is returned, and one that is passed on."""

    width: int = 5

    @nn.compact
    def __call__(self, x):
        first = noisy(self.width, 2.0)
        second = noisy(features=3, scale=0.5)
        make = partial(with_options, bias=False)
        return second(nn.relu(first(first(make(self.width)(x)))))


class Options(nn.Module):
    bias: bool = True

    @nn.compact
    def __call__(self, x):
        x = with_options(4, bias=self.bias)(x)
        return with_options(2)(x)


class InSetup(nn.Module):
    """Helpers that `setup` calls: what they build belongs to the attributes."""

    width: int
    kind: str = "layer"
    deep: bool = False

    def setup(self):
        self.project = self._dense(self.width, bias=False)
        self.blocks = [self._dense(4) for _ in range(2)]
        # The norm that is asked for.
        self.norm = norm_of(self.kind, epsilon=1e-2)
        self.norms = [norm_of(self.kind), norm_of("layer")]
        self._rest()
        self.stack = make_stack((self.width,), last=3)
        self.short = make_stack((2,))

    def _dense(self, features, bias=True):
        """Build a layer."""
        return nn.Dense(features, use_bias=bias, kernel_init=scaled_normal)

    def _rest(self):
        size = self.width * 2
        if self.deep:
            self.extra = nn.Dense(size)
        else:
            self.extra = nn.Dense(size, use_bias=False)

    def __call__(self, x):
        x = self.project(x)
        for one in self.blocks:
            x = one(x)
        x = self.norms[1](self.norms[0](self.norm(x)))
        return self.short(self.stack(self.extra(x)))


class Overridden(nn.Module):
    """A helper that subclasses replace: `setup` calls theirs."""

    def setup(self):
        self.layer = self.make()

    def make(self):
        return nn.Dense(3)

    def __call__(self, x):
        return self.layer(x)


class Overriding(Overridden):
    def make(self):
        return nn.Dense(4, use_bias=False)


class Extending(Overriding):
    """A `setup` that calls that of its base, which calls what a class between them replaces."""

    def setup(self):
        super().setup()
        self.last = nn.Dense(2)

    def __call__(self, x):
        return self.last(super().__call__(x))


class Shadowing(nn.Module):
    """Names of functions that mean something else in the module."""

    block: int = 3

    @nn.compact
    def __call__(self, x):
        normalised = lambda y: y / 2  # noqa: E731
        x = nn.Dense(self.block)(normalised(x))
        return jax.vmap(lambda row: row * self.block)(plain(4)(x))


class Heads:
    """Layers that class methods and static methods build."""

    scale = 2

    @classmethod
    def bent(cls, x, features: int, act=nn.relu):
        """Project and bend."""
        return act(nn.Dense(features * cls.scale)(x))

    @staticmethod
    def plain(x, features):
        return nn.Dense(features, use_bias=False)(x)

    @classmethod
    def both(cls, x, features):
        return cls.plain(cls.bent(x, features), features + cls.scale)

    @classmethod
    def layer(cls, features):
        if features > cls.scale:
            return nn.Dense(features)
        return nn.Dense(cls.scale, use_bias=False)


class OfAClass(nn.Module):
    """Methods of a class that is no module, also one that calls others."""

    width: int = 4

    @nn.compact
    def __call__(self, x):
        x = Heads.bent(x, self.width, act=nn.tanh)
        return Heads.plain(Heads.both(x, 3), self.width)


class OfAClassInSetup(nn.Module):
    def setup(self):
        self.first = Heads.layer(5)
        self.second = Heads.layer(features=1)

    def __call__(self, x):
        return self.second(self.first(x))


X = jax.random.normal(jax.random.key(0), (2, 5))
IMAGE = jax.random.normal(jax.random.key(1), (2, 6, 6, 3))

EXAMPLES = [
    Example(Build("Blocks", (4, 8)), IMAGE),
    Example(Build("Blocks", (2,), kind="layer"), IMAGE),
    Example(Build("Closures"), X),
    Example(Build("Options"), X),
    Example(Build("Options", bias=False), X),
    Example(Build("InSetup", 6), X),
    Example(Build("InSetup", 6, kind="rms", deep=True), X),
    Example(Build("Overridden"), X),
    Example(Build("Overriding"), X),
    Example(Build("Extending"), X),
    Example(Build("Shadowing"), X),
    Example(Build("OfAClass"), X),
    Example(Build("OfAClassInSetup"), X),
]
