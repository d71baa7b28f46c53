"""Functions of a project under transforms of jax."""

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


@jax.vmap
def flipped(inputs, lengths):
    size = inputs.shape[0]
    return jnp.flip(jnp.roll(inputs, size - lengths, axis=0), axis=0)


@jax.jit
def doubled(x):
    return jnp.concatenate([x, x], axis=-1)


@partial(jax.jit, static_argnums=(1,))
def repeated(x, count):
    return jnp.concatenate([x] * 3, axis=-1) * count


def outer(a, b):
    return jnp.reshape(a[:, None] * b[None, :], (a.shape[-1] * b.shape[-1],))


def of_first(a, b):
    return jnp.tile(a, b.shape[0])


def paired(a, b):
    return jnp.concatenate([a, b], axis=-1), a


@partial(jax.vmap, in_axes=(0, None))
def scaled(x, scale):
    return x * scale


class Flipping(nn.Module):
    @nn.compact
    def __call__(self, x, lengths):
        x = flipped(x, lengths)
        x = nn.Dense(4)(x)
        x = flipped(doubled(x), lengths)
        x = nn.Dense(3)(x)
        return nn.Dense(2)(repeated(x, 2))


class MappedInCall(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.Dense(3)(x)
        z = jax.vmap(outer)(x, y)
        z = nn.Dense(5)(z)
        first, second = jax.vmap(paired, in_axes=(0, 0))(z, y)
        both = nn.Dense(4)(first) + nn.Dense(4)(second)
        turned = jax.vmap(lambda row: row[::-1])(both)
        kept = jax.checkpoint(lambda row: jnp.tanh(row))(turned)
        return nn.Dense(2)(scaled(kept, 2.0))


class Vectorized(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = x.reshape(2, 3, 5)
        y = jax.vmap(lambda one: one @ one.T, in_axes=-3, out_axes=-3)(x)
        y = nn.Dense(3)(y)
        z = jax.vmap(of_first)(nn.Dense(2)(x), x)
        return nn.Dense(3)(z) + y


class UnsureRank(nn.Module):
    """How many axes the rows have is not sure: their first may be their last."""

    @nn.compact
    def __call__(self, x):
        y = jax.vmap(of_first)(x, nn.Dense(2)(x))
        return nn.Dense(3)(y)


class MappedModules(nn.Module):
    """Submodules and methods of the object itself under `jax.vmap`."""

    features: int

    def setup(self):
        self.first = nn.Dense(self.features)
        self.last = nn.Dense(3)

    def distances(self, rows, scale):
        return scale * (rows[:, None, :] - rows[None, :, :])

    def __call__(self, x):
        y = jax.vmap(self.first)(x)
        apart = jax.vmap(self.distances, in_axes=(0, None))(y, 2.0)
        return self.last(apart)


class MappedInPlace(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x, more):
        y = jnp.concatenate([x, more], axis=-1)
        hidden = nn.relu(jax.vmap(nn.Dense(self.features), in_axes=(0))(y))
        return nn.Dense(1)(hidden)


class OwnProduct(nn.Module):
    """A dense layer that is written with the number of axes of its input."""

    features: int

    @nn.compact
    def __call__(self, x):
        kernel = self.param("kernel", nn.initializers.normal(), (x.shape[-1], self.features))
        kernel = jnp.asarray(kernel, jnp.float32)
        kernel /= jnp.sqrt(jnp.sum(kernel**2))
        return jax.lax.dot_general(x, kernel, (((x.ndim - 1,), (0,)), ((), ())))


class MapOfPython(nn.Module):
    heads: int

    @nn.compact
    def __call__(self, x):
        q, k, v = jnp.split(nn.Dense(6 * self.heads)(x), 3, axis=-1)
        q, k = map(lambda t: t.reshape(*t.shape[:-1], self.heads, 2), (q, k))
        q, k, v = map(lambda t, scale: t * scale, (q, k, v), (1.0, 2.0, 3.0))
        first, second = map(nn.relu, [q, k])
        return nn.Dense(3)(v) + nn.Dense(3)(first - second).sum(-2)


X = jnp.linspace(-1.0, 1.0, 30).reshape(2, 3, 5)
EXAMPLES = [
    Example(Build("Flipping"), X, jnp.array([1, 3])),
    Example(Build("MappedInCall"), X[0]),
    Example(Build("Vectorized"), X),
    Example(Build("UnsureRank"), X[0]),
    Example(Build("UnsureRank"), X),
    Example(Build("MappedModules", 4), X),
    Example(Build("MappedInPlace", 4), X[0], X[1]),
    Example(Build("OwnProduct", 4), X),
    Example(Build("MapOfPython", 4), X),
]
