"""The models; a type is from a file that imports this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp

import typed_nnx as nnx

if TYPE_CHECKING:
    from shared import Pair


def first_of(head: Head) -> object:
    """Above the class that it uses."""
    return nnx.split(head, ..., nnx.Param)


class Head(nnx.Module):
    def __init__(self, width: int, *, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(width, 2, rngs=rngs)
        self.width = width
        self.cache: nnx.Cache[jax.Array] | None = None
        self.table = nnx.static(jnp.ones(width))
        self.parts = [nnx.Linear(width, width, rngs=rngs)]

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.linear(x)

    def widen(self) -> None:
        self.cache = nnx.Cache(jnp.ones(2))


class Encoder(nnx.Module):
    def __init__(self, width: int, *, rngs: nnx.Rngs) -> None:
        self.norm = nnx.BatchNorm(width, rngs=rngs)
        self.head = Head(width, rngs=rngs)
        self.later = later(width, rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.head(self.norm(x))


def later(width: int, rngs: nnx.Rngs) -> Late:
    return Late(width, rngs)


def of_the_cycle(pair: Pair) -> None:
    state = nnx.state(pair)
    reveal_type(state.right.later.scale)
    print(state.right.latter)
    nnx.split(pair.left, ..., nnx.Param)


class Late(nnx.Module):
    def __init__(self, width: int, rngs: nnx.Rngs) -> None:
        marked = nnx.data([width])
        self.scale = nnx.Param(rngs.params.uniform((width,)))
        self.size = len(marked)
