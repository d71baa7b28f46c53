"""Functions that `setup` defines to build submodules, and attributes that may be None."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


def parts(features):
    """Return the hidden sizes and the last one."""
    if features is None:
        hidden, last = None, None
    elif isinstance(features, int):
        hidden, last = None, features
    else:
        hidden, last = tuple(features[:-1]), features[-1]
    return hidden, last


class Stack(nn.Module):
    last: int
    hidden: tuple[int, ...] | None = None

    @nn.compact
    def __call__(self, x):
        for one in self.hidden or ():
            x = nn.tanh(nn.Dense(one)(x))
        return nn.Dense(self.last)(x)


class LocalHelper(nn.Module):
    inner: int | tuple[int, ...] | None = None
    outer: int | tuple[int, ...] | None = None

    def setup(self):
        def make(features, name):
            hidden, last = parts(features)
            if last is None:
                return None
            else:
                return Stack(last, hidden, name=name)

        self.first = make(self.inner, "one")
        self.last = make(self.outer, "two")

    def __call__(self, x):
        if self.first:
            x = self.first(x)
        x = jnp.sum(x, axis=-2)
        if self.last:
            x = self.last(x)
        return x


class ShortHelper(nn.Module):
    sizes: tuple[int, ...]
    use_bias: bool = True

    def setup(self):
        def dense(size, scale=1):
            return nn.Dense(scale * size, use_bias=self.use_bias)

        self.layers = [dense(one) for one in self.sizes]
        self.head = dense(3, scale=2)

    def __call__(self, x):
        for one in self.layers:
            x = nn.relu(one(x))
        return self.head(x)


class UsedElsewhere(nn.Module):
    """The function is a value, too: it stays where it is."""

    sizes: tuple[int, ...]

    def setup(self):
        def dense(size):
            return nn.Dense(size)

        self.layers = list(map(dense, self.sizes))
        self.head = dense(3)

    def __call__(self, x):
        for one in self.layers:
            x = one(x)
        return self.head(x)


class NoneFirstAsked(nn.Module):
    size: int | None = None

    def setup(self):
        if not self.size:
            self.first = None
        else:
            self.first = nn.Dense(self.size)
        self.last = nn.Dense(7)

    def __call__(self, x):
        y = self.first(x) if self.first else x
        return self.last(y)


class InParts(nn.Module):
    """Methods that assign attributes for `setup`, one of them on one side of a branch."""

    width: int
    is_deep: bool = False

    def setup(self):
        self._encoder()
        if self.is_deep:
            self._deep()
        else:
            self.head = nn.Dense(3)

    def _encoder(self):
        """Build the first half."""
        size = self.width * 2
        self.encode = nn.Dense(size)
        self.scale = self.param("scale", nn.initializers.normal(), (size,))
        self.norm = nn.LayerNorm()

    def _deep(self):
        self.head = nn.Sequential([nn.Dense(self.width), nn.relu, nn.Dense(3)])

    def __call__(self, x):
        return self.head(self.norm(self.encode(x) * self.scale))


class WithLayers(nn.Module):
    """A base without a forward pass, with what the `setup` of others calls."""

    width: int = 4

    def _layer(self, size):
        return nn.Dense(size, use_bias=False)


class OfWithLayers(WithLayers):
    def setup(self):
        self.first = self._layer(self.width)
        self.last = self._layer(3)

    def __call__(self, x):
        return self.last(nn.relu(self.first(x)))


class AlsoOfWithLayers(WithLayers):
    def __call__(self, x):
        return x * self.width


class ByItsKind(nn.Module):
    """A method with a return for each kind; one that calls another; an index into sizes."""

    sizes: tuple[int, ...] = (4, 6)
    kind: str = "plain"

    def setup(self):
        self.layers = [self._layer(i) for i in range(len(self.sizes))]
        self.first = self._head(2)
        self.others = {"head": self._head(self._doubled(2))}

    def _layer(self, i):
        size = self.sizes[i]
        return nn.Dense(size)

    def _head(self, size):
        if self.kind == "plain":
            return nn.Dense(size)
        if self.kind == "even":
            return nn.Dense(size, use_bias=False)
        return nn.Dense(self._doubled(size), name=None)

    def _doubled(self, size):
        return 2 * size

    def __call__(self, x):
        for one in self.layers:
            x = nn.tanh(one(x))
        return self.others["head"](self.first(x))


class ParametersIfTrained(nn.Module):
    """A function of `setup` makes a parameter, or an array of it."""

    is_trained: bool = False

    def setup(self):
        exponents = [3.1, 0.9, 0.4]

        def made(name, value):
            if self.is_trained:
                return self.param(name, lambda key: jnp.asarray(value))
            return jnp.asarray(value)

        self.scale = made("scale", 0.5)
        self.exponents = made("exponents", exponents)

    def __call__(self, x):
        return x[..., :3] * self.scale + self.exponents


X = jnp.linspace(-1.0, 1.0, 24).reshape(2, 3, 4)

EXAMPLES = [
    Example(Build("Stack", 2), X),
    Example(Build("LocalHelper", 5, 3), X),
    Example(Build("LocalHelper", (6, 5), (7, 3)), X),
    Example(Build("LocalHelper", None, (7, 3)), X),
    Example(Build("LocalHelper", 5), X),
    Example(Build("ShortHelper", (5, 6)), X),
    Example(Build("ShortHelper", (5,), use_bias=False), X),
    Example(Build("UsedElsewhere", (5, 6)), X),
    Example(Build("NoneFirstAsked"), X),
    Example(Build("NoneFirstAsked", 5), X),
    Example(Build("InParts", 3), X),
    Example(Build("InParts", 2, is_deep=True), X),
    Example(Build("OfWithLayers"), X),
    Example(Build("AlsoOfWithLayers", 2), X),
    Example(Build("ByItsKind"), X),
    Example(Build("ByItsKind", (3,), "even"), X),
    Example(Build("ByItsKind", (3, 5, 2), "other"), X),
    Example(Build("ParametersIfTrained"), X),
    Example(Build("ParametersIfTrained", is_trained=True), X),
]
