"""First values and sizes that functions compute of settings, shapes and keys, before they are used."""

import flax.linen as nn
import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


def weights(shape, key, bias=True):
    w = jax.random.normal(key, shape) / shape[0]
    if bias:
        return w, jnp.ones((shape[-1],))
    return w


class Drawn(nn.Module):
    """Weight and bias come from one function."""

    features: int
    seed: int = 3
    table: tuple | None = None

    @nn.compact
    def __call__(self, x):
        first, second = jax.random.split(jax.random.key(self.seed))
        del first
        w, b = weights([x.shape[-1], self.features], second)
        w = self.param("w", lambda *_: w)
        b = self.param("b", lambda *_: b)
        strength = jnp.zeros((1,)) if self.table is None else jnp.asarray(self.table)
        strength = self.param("strength", lambda *_: strength)
        return x @ w + b + strength


class DrawnOfCall(nn.Module):
    """A key of the call draws them: only their shapes are known."""

    @nn.compact
    def __call__(self, x):
        w, b = weights([x.shape[-1], 4], self.make_rng("noise"))
        w = self.param("w", lambda *_: w)
        return x @ w + self.param("b", lambda *_: b)


class DrawnTwice(nn.Module):
    """What is drawn is changed before it is a first value."""

    @nn.compact
    def __call__(self, x):
        w, b = weights([x.shape[-1], 4], jax.random.key(0))
        w = w * x.mean()
        w = self.param("w", lambda *_: w)
        return x @ w + self.param("b", lambda *_: b)


class Linear(nn.Module):
    in_features: int
    out_features: int

    @nn.compact
    def __call__(self, x):
        w = self.param("w", nn.initializers.normal(), (self.in_features, self.out_features))
        return x @ w


class Chained(nn.Module):
    """Sizes that are counted from the front, of arrays of two axes."""

    layers: int
    width: int

    @nn.compact
    def __call__(self, x):
        if self.layers > 0:
            x = x / jnp.sqrt(jnp.mean(jnp.square(x), axis=1, keepdims=True) + 1e-4)
        for _ in range(self.layers):
            x = Linear(in_features=x.shape[1], out_features=self.width)(x)
        return x


class SetupTable(nn.Module):
    """A value of `setup` is a first value."""

    size: int
    table: tuple | None = None

    def setup(self):
        if self.table is not None:
            rows = jnp.asarray(self.table, dtype=jnp.float32)
        else:
            rows = jnp.sin(jnp.arange(2 * self.size))
        self.rows = self.variable("consts", "rows", lambda *_: rows)

    def __call__(self, x):
        return x + self.rows.value.sum()


class SetupTableTwice(nn.Module):
    """Something else holds the value when the name is bound again."""

    size: int

    def setup(self):
        rows = jnp.sin(jnp.arange(2 * self.size))
        both = [rows]
        rows = rows + 1.0
        self.rows = self.variable("consts", "rows", lambda: rows)
        self.old = self.variable("consts", "old", lambda: both[0])

    def __call__(self, x):
        return x + self.rows.value.sum() - 2.0 * self.old.value.sum()


X = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
EXAMPLES = [
    Example(Build("Drawn", 5), X),
    Example(Build("Drawn", 5, table=(0.5,)), X, name="Drawn, told"),
    Example(Build("DrawnOfCall"), X, rngs=("noise",)),
    Example(Build("DrawnTwice"), X),
    Example(Build("Linear", 3, 2), X),
    Example(Build("Chained", 2, 5), X),
    Example(Build("Chained", 0, 5), X, name="Chained, empty"),
    Example(Build("SetupTable", 3), X),
    Example(Build("SetupTable", 3, table=(0.5, 0.25)), X, name="SetupTable, told"),
    Example(Build("SetupTableTwice", 3), X),
]
