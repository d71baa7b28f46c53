# mypy: disable-error-code="nnx-deprecated"
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import typed_nnx as nnx

ARRAY = jnp.zeros(2)
Alias = jax.Array
Hidden = nnx.Data[list[jax.Array]]
RNGS = nnx.Rngs(0)


def make() -> jax.Array:
    return jnp.zeros(2)


# -- reports
class Direct(nnx.Module):
    def __init__(self, rngs: nnx.Rngs, given: jax.Array) -> None:
        self.a = nnx.static(jnp.zeros(2))  # E: nnx.static: got jax.Array  [nnx-static-data]
        self.b = nnx.static(nnx.Param(jnp.zeros(2)))  # E: got Param  [nnx-static-data]
        self.c = nnx.static(nnx.Linear(1, 1, rngs=rngs))  # E: got Linear  [nnx-static-data]
        self.d = nnx.static(given)  # E: Fix: write `nnx.data(...)`  [nnx-static-data]
        self.e = nnx.static(np.zeros(2))  # E: got numpy.ndarray  [nnx-static-data]
        self.f = nnx.static(jax.random.key(0))  # E: got jax.Array  [nnx-static-data]
        self.g = nnx.static(rngs)  # E: got Rngs  [nnx-static-data]


class Contained(nnx.Module):
    def __init__(self, rngs: nnx.Rngs, layers: list[nnx.Linear]) -> None:
        self.a = nnx.static([jnp.zeros(2)])  # E: got jax.Array  [nnx-static-data]
        self.b = nnx.static((1, {"x": [None, ARRAY]}))  # E: got jax.Array  [nnx-static-data]
        self.c = nnx.static(layers)  # E: got list[Linear]  [nnx-static-data]
        self.d = nnx.static([make() for _ in range(3)])  # E: list[jax.Array]  [nnx-static-data]
        self.e = nnx.static({name: make() for name in "ab"})  # E: dict[str  [nnx-static-data]
        self.f = nnx.static(nnx.List([nnx.Linear(1, 1, rngs=rngs)]))  # E: List  [nnx-static-data]
        self.g = nnx.static(nnx.state(layers[0]))  # E: got State  [nnx-static-data]


class Declared(nnx.Module):
    scale: nnx.Static[jax.Array]  # E: `scale` is declared as a static jax.Array  [nnx-static-data]
    layers: nnx.Static[list[nnx.Linear]]  # E: with `nnx.data()`  [nnx-static-data]
    anything: nnx.Static[Any]

    def __init__(self, rngs: nnx.Rngs) -> None:
        # E: `anything` is declared static, but is assigned Linear  [nnx-static-data]
        self.anything = nnx.Linear(1, 1, rngs=rngs)


@nnx.dataclass
class Fields(nnx.Pytree):
    a: jax.Array = nnx.static()  # E: `a` is declared as a static jax.Array  [nnx-static-data]
    b: object = nnx.static(default=ARRAY)  # E: `nnx.data(default=...)`  [nnx-static-data]
    # E: `nnx.data(default_factory=...)`  [nnx-static-data]
    c: object = nnx.static(default_factory=lambda: [jnp.zeros(2)])
    d: object = nnx.static(default_factory=make)  # E: jax.Array  [nnx-static-data]


@nnx.dataclass
class FieldsOfAliases(nnx.Pytree):
    a: Alias = nnx.static()  # E: `a` is declared as a static jax.Array  [nnx-static-data]
    b: Alias = nnx.data()
    c: Hidden


# -- correct
class Right(nnx.Module):
    size: nnx.Static[int]
    names: nnx.Static[list[str]]

    def __init__(self, rngs: nnx.Rngs, names: list[str]) -> None:
        self.size = 3
        self.names = names
        self.shape = nnx.static(jnp.zeros(2).shape)
        self.dtype = nnx.static(jnp.float32)
        self.activation = nnx.static(jax.nn.relu)
        self.kind = nnx.static(nnx.Linear)
        self.later = nnx.static(functools.partial(nnx.Linear, 1, 1))
        self.nothing = nnx.static(None)
        self.table = nnx.static({"a": (1, "b")})
        self.spec = nnx.static(jax.ShapeDtypeStruct((2,), jnp.float32))
        self.scalar = nnx.static(np.float32(1))
        self.count = nnx.static(len(jnp.zeros(2)))
        self.empty: list[int] = nnx.static([])
        self.data = nnx.data([jnp.zeros(2)])


class Loose(nnx.Object):
    """Marks mean nothing in an Object: the array is in its State."""

    def __init__(self) -> None:
        self.a = nnx.static(jnp.zeros(2))


@nnx.dataclass
class RightFields(nnx.Pytree):
    x: jax.Array
    size: int = nnx.static(default=3)
    names: list[str] = nnx.static(default_factory=list)
    kind: type[nnx.Module] = nnx.static(default=nnx.Linear)


# -- unsure
class Unsure(nnx.Module):
    maybe: nnx.Static[jax.Array | None]

    def __init__(
        self,
        anything: Any,
        something: object,
        act: Callable[[jax.Array], jax.Array],
        maybe: jax.Array | None,
        many: list[Any],
    ) -> None:
        self.maybe = maybe
        self.a = nnx.static(anything)
        self.b = nnx.static(something)
        self.c = nnx.static(act)
        self.d = nnx.static(maybe)
        self.e = nnx.static(many)
        self.f = nnx.static([*many])
        self.g = nnx.static({**dict.fromkeys(many)})
