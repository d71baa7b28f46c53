"""Models for summaries, written once for flax and for us: a function takes the library."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def dense_class(lib: Any) -> Any:
    class Dense(lib.Module):
        def __init__(self, size_in: int, size_out: int, rngs: Any) -> None:
            self.kernel = lib.Param(jax.random.normal(rngs.params(), (size_in, size_out)))
            self.bias = lib.Param(jnp.zeros(size_out))

        def __call__(self, x: jax.Array) -> jax.Array:
            y = lax.dot(x, self.kernel[...])
            return y + self.bias[...].reshape((1,) * (y.ndim - 1) + (-1,))

    return Dense


def norm_class(lib: Any) -> Any:
    class Norm(lib.Module):
        def __init__(self, size: int) -> None:
            self.mean, self.scale = lib.BatchStat(jnp.zeros(size)), lib.Param(jnp.ones(size))

        def __call__(self, x: jax.Array) -> jax.Array:
            mean = x.mean(0)
            self.mean[...] = 0.9 * self.mean[...] + 0.1 * mean
            return (x - mean[None]) * self.scale[...][None]

    return Norm


def noise_class(lib: Any) -> Any:
    class Noise(lib.Module):
        def __init__(self, rngs: Any) -> None:
            self.rngs = rngs.noise.fork()

        def __call__(self, x: jax.Array) -> jax.Array:
            return x + jax.random.normal(self.rngs(), x.shape)

    return Noise


def block_class(lib: Any) -> Any:
    dense, norm, noise = dense_class(lib), norm_class(lib), noise_class(lib)

    class Block(lib.Module):
        def __init__(self, size_in: int, size_out: int, rngs: Any) -> None:
            self.dense = dense(size_in, size_out, rngs)
            self.norm, self.noise = norm(size_out), noise(rngs)

        def __call__(self, x: jax.Array) -> jax.Array:
            return jax.nn.relu(self.noise(self.norm(self.dense(x))))

    return Block


def net(lib: Any) -> Any:
    block, dense = block_class(lib), dense_class(lib)

    class Net(lib.Module):
        def __init__(self, rngs: Any) -> None:
            self.block = block(4, 8, rngs)
            self.out, self.unused = dense(8, 2, rngs), dense(2, 2, rngs)

        def __call__(self, x: jax.Array, *, scale: Any = None, mode: str = "a") -> Any:
            hidden = self.block(x)
            y = self.out(hidden)
            return {"y": y if scale is None else y * scale, "hidden": (hidden, [hidden])}

        def encode(self, x: jax.Array) -> jax.Array:
            return self.double(self.block(x))

        def double(self, x: jax.Array) -> jax.Array:
            return x * 2

    return Net(lib.Rngs(0))


def varied(lib: Any) -> Any:
    """Make a model with shared modules and with modules in every kind of container."""
    dense = dense_class(lib)

    class Varied(lib.Module):
        def __init__(self, rngs: Any) -> None:
            self.shared = dense(4, 4, rngs)
            self.alias = self.shared
            self.items = lib.List([dense(4, 4, rngs), self.shared])
            self.named = lib.Dict(a=dense(4, 4, rngs))
            self.plain = lib.data([dense(4, 4, rngs)])
            self.row = lib.Sequential(dense(4, 4, rngs), jax.nn.relu, dense(4, 3, rngs))
            self.raw = lib.Param(jnp.ones((4, 4)))

        def __call__(self, x: jax.Array, flag: Any = None) -> jax.Array:
            for layer in (self.shared, self.alias, *self.items, self.named.a, self.plain[0]):
                x = layer(x)
            return self.row(lax.dot(x, self.raw[...]))

    return Varied(lib.Rngs(0))


def lifted(lib: Any) -> Any:
    """Make a model that calls its layers inside transforms."""
    dense = dense_class(lib)

    class Lifted(lib.Module):
        def __init__(self, rngs: Any) -> None:
            @lib.split_rngs(splits=3)
            @lib.vmap(in_axes=0)
            def make(rngs: Any) -> Any:
                return dense(4, 4, rngs)

            self.stack = make(rngs)
            self.mapped, self.again, self.slope = (dense(4, 4, rngs) for _ in range(3))

        def __call__(self, x: jax.Array) -> Any:
            @lib.scan(in_axes=(0, lib.Carry), out_axes=lib.Carry)
            def through(layer: Any, x: jax.Array) -> jax.Array:
                return layer(x)

            x = through(self.stack, x)
            x = lib.vmap(lambda layer, row: layer(row), in_axes=(None, 0))(self.mapped, x)
            x = lib.remat(lambda layer, x: layer(x))(self.again, x)
            slope = lib.grad(lambda layer, x: layer(x).sum())(self.slope, x)
            return x, slope["kernel"][...]

    return Lifted(lib.Rngs(0))


def twice(lib: Any) -> Any:
    dense = dense_class(lib)

    class Twice(lib.Module):
        def __init__(self, rngs: Any) -> None:
            self.dense = dense(4, 4, rngs)

        def __call__(self, x: jax.Array) -> Any:
            same = self.dense(self.dense(x))
            return self.scaled(same, 2), self.scaled(same, n=3), self.dense(jnp.ones((7, 4)))

        def scaled(self, x: jax.Array, n: int) -> jax.Array:
            return x * n

    return Twice(lib.Rngs(0))


def sowing(lib: Any) -> Any:
    dense = dense_class(lib)

    class Sowing(lib.Module):
        def __init__(self, rngs: Any) -> None:
            self.dense = dense(4, 4, rngs)

        def __call__(self, x: jax.Array) -> jax.Array:
            y = self.dense(x)
            self.sow(lib.Intermediate, "seen", y)
            return self.perturb("nudge", y)

    return Sowing(lib.Rngs(0))


def drawing(lib: Any) -> Any:
    class Drawing(lib.Module):
        def __init__(self) -> None:
            self.rngs = lib.Rngs(0, params=1)

        def __call__(self, x: jax.Array) -> jax.Array:
            noise = self.rngs.normal((4,)) + jax.random.normal(self.rngs(), (4,))
            return x + (noise + self.rngs.params.uniform((4,)))[None]

    return Drawing()


def kinds(lib: Any) -> Any:
    """Make a model with Variables of many types and with metadata."""

    class Mine(lib.Param):
        pass

    class Kinds(lib.Module):
        def __init__(self) -> None:
            names = "BatchStat Cache Intermediate Variable Perturbation LoRAParam OptState"
            for name in names.split():
                setattr(self, name.lower(), getattr(lib, name)(jnp.ones(3)))
            self.mine = Mine(jnp.ones(2))
            self.w = lib.Param(jnp.ones((2, 3)), note="x", n=3)
            self.half, self.key = lib.Param(jnp.ones(3, jnp.bfloat16)), lib.Param(jax.random.key(0))
            self.empty, self.rngs = lib.Param(jnp.ones((0, 3))), lib.Rngs(0, params=1)
            self.number, self.nothing = lib.Param(3.0), lib.Param(None)

        def __call__(self, x: jax.Array) -> jax.Array:
            return x

    return Kinds()


def tied(lib: Any) -> Any:
    """Make a model in which modules share Variables and modules."""
    dense = dense_class(lib)

    class Wrap(lib.Module):
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def __call__(self, x: jax.Array) -> jax.Array:
            return self.inner(x)

    class Tied(lib.Module):
        def __init__(self, rngs: Any) -> None:
            self.b, self.a = dense(4, 4, rngs), dense(4, 4, rngs)
            self.b.kernel = self.a.kernel
            self.top = self.a.kernel
            self.z, self.y = Wrap(self.b), Wrap(self.b)

        def __call__(self, x: jax.Array) -> jax.Array:
            return self.z(self.b(self.a(self.y(x))))

    return Tied(lib.Rngs(0))


def returning(lib: Any) -> Any:
    dense = dense_class(lib)

    class Returning(lib.Module):
        def __init__(self, rngs: Any) -> None:
            self.dense = dense(4, 4, rngs)

        def __call__(self, a: Any, *rest: Any, **named: Any) -> Any:
            y = self.dense(a)
            return y, (a, [a]), {}, 3, True, [], {"q": {"r": [a, {"t": a}]}}, None

        def module(self, x: jax.Array) -> Any:
            return self.dense

    return Returning(lib.Rngs(0))
