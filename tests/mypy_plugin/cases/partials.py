from __future__ import annotations

import functools
from functools import partial

import jax

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)

    @partial(nnx.jit, static_argnames="scale")
    def scaled(self, x: jax.Array, scale: float = 1.0) -> jax.Array:
        return self.linear(x) * scale


def loss(model: Model, x: jax.Array, scale: float = 1.0) -> jax.Array:
    return model.linear(x).sum() * scale


@partial(nnx.jit, static_argnames="scale")
def jitted(model: Model, x: jax.Array, scale: float = 1.0) -> jax.Array:
    return loss(model, x, scale)


def body(carry: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    return carry + x, x


static_jit = functools.partial(nnx.jit, static_argnums=2)

# -- reports
reveal_type(jitted)  # R: JitWrapped[[model: Model, x: Array, scale: float =], Array]
reveal_type(static_jit(loss))  # R: JitWrapped[[model: Model, x: Array, scale: float =], Array]
reveal_type(partial(nnx.jit, loss)())  # R: JitWrapped[[model: Model, x: Array, scale: float =], Array]
reveal_type(partial(nnx.vmap, in_axes=0)(body))  # R: def (carry: Array, x: Array) -> tuple[Array, Array]
reveal_type(partial(nnx.remat, static_argnums=2)(loss))  # R: def (model: Model, x: Array, scale: float =) -> Array
reveal_type(partial(nnx.scan, length=3)(body))  # R: def (carry: Array, x: Array) -> tuple[Array, Array]


def calls(model: Model, x: jax.Array) -> None:
    reveal_type(jitted(model, x, scale=2.0))  # R: Array
    reveal_type(model.scaled(x, scale=2.0))  # R typed_nnx: Array  # R flax: Any


# -- correct
def plain(a: int, b: str, c: float = 1.0) -> bytes:
    return b""


reveal_type(partial(plain, 1)("b"))  # R: bytes
reveal_type(partial(plain, 1, "b")())  # R: bytes
partial(plain, "x")  # E typed_nnx: incompatible type "str"; expected "int"  [arg-type]
partial(plain, 1)(2)  # E typed_nnx: incompatible type "int"; expected "str"  [arg-type]


class Made(nnx.Module):
    def __init__(self, size: int) -> None:
        self.size = size

    @classmethod
    @partial(nnx.jit, static_argnums=(0, 1))
    def create(cls, size: int) -> Made:
        return cls(size)


Made.create(1)


# -- unsure
def options(**rest: bool) -> None:
    partial(nnx.jit, **rest)(loss)
