from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

import typed_nnx as nnx

ARRAY = jnp.zeros(2)


# -- reports
class Containers(nnx.Module):
    def __init__(self, count: int) -> None:
        self.a = [nnx.data(ARRAY)]  # E: inside a container  [nnx-misplaced-mark]
        self.b = {"x": nnx.static(1)}  # E: nnx.static: it stands inside  [nnx-misplaced-mark]
        self.c = (nnx.static(1), 2)  # E: inside a container  [nnx-misplaced-mark]
        self.d = [{"x": (nnx.data(1),)}]  # E: inside a container  [nnx-misplaced-mark]
        self.e = [nnx.data(i) for i in range(count)]  # E: inside a container  [nnx-misplaced-mark]
        self.f = nnx.data([nnx.data(ARRAY)])  # E: inside a container  [nnx-misplaced-mark]
        self.g = nnx.List([[nnx.data(1)]])  # E: inside a container  [nnx-misplaced-mark]
        self.h: list[int] = nnx.data([])
        self.h.append(nnx.data(1))  # E: plain container  [nnx-misplaced-mark]
        self.i: dict[str, int] = nnx.data({})
        self.i["x"] = nnx.static(1)  # E: plain container  [nnx-misplaced-mark]


class Nested(nnx.Module):
    def __init__(self) -> None:
        self.a = nnx.data(nnx.data(1))  # E: inside another one  [nnx-misplaced-mark]
        self.b = nnx.data(default=1)  # E: make a dataclass field  [nnx-misplaced-mark]


def calls() -> None:
    jnp.sum(nnx.data(ARRAY))  # E: `sum` is given the marked value  [nnx-misplaced-mark]
    len(nnx.data([1]))  # E: `len` is given the marked value  [nnx-misplaced-mark]
    nnx.Param(nnx.data(ARRAY))  # E: `Param` is given the marked  [nnx-misplaced-mark]
    jnp.stack([nnx.data(ARRAY)])  # E: inside a container  [nnx-misplaced-mark]
    jax.jit(nnx.static(jax.nn.relu))  # E: `jit` is given  [nnx-misplaced-mark]
    nnx.data(ARRAY)  # E: the mark has no effect  [nnx-misplaced-mark]
    print(nnx.data(ARRAY) + 1)  # E: the marked value is used  [nnx-misplaced-mark]
    print(nnx.data(ARRAY).shape)  # E: the marked value is used  [nnx-misplaced-mark]
    print(nnx.data([1])[0])  # E: the marked value is used  [nnx-misplaced-mark]
    for _ in nnx.data([1]):  # E: the marked value is used  [nnx-misplaced-mark]
        pass


def variables() -> jax.Array:
    layers = nnx.data([ARRAY])  # E: the variable `layers` has the marked  [nnx-misplaced-mark]
    layers.append(ARRAY)
    # E: the variable `unused` is not used  [nnx-misplaced-mark]
    unused = nnx.static(3)  # noqa: F841  # that is the point
    scale = nnx.data(ARRAY)  # E: the variable `scale` has the marked  [nnx-misplaced-mark]
    return scale * 2


class NoPytree:
    def __init__(self) -> None:
        self.layers = nnx.data([ARRAY])  # E: NoPytree is not a Pytree  [nnx-misplaced-mark]


# -- correct
def build() -> list[jax.Array]:
    return nnx.data([ARRAY])


def two() -> tuple[list[jax.Array], int]:
    return nnx.data([ARRAY]), nnx.static(1)


class Right(nnx.Module):
    def __init__(self, flag: bool) -> None:
        self.a = nnx.data([ARRAY])
        self.b = nnx.static(1)
        self.c, self.d = nnx.data([ARRAY]), nnx.static(1)
        self.e = nnx.data([ARRAY]) if flag else None
        self.f = build()
        self.g, self.h = two()
        local = nnx.data([ARRAY])
        self.i = local
        self.j = nnx.List([nnx.data(1), nnx.static(2)])
        self.k = nnx.Dict(a=nnx.data(1), b=nnx.static(2))
        self.m = nnx.Dict({"a": nnx.data(1)})
        self.j.append(nnx.data(1))
        self.j[0] = nnx.static(2)
        self.k["c"] = nnx.data(1)
        setattr(self, "n", nnx.data([ARRAY]))  # noqa: B010
        for name, value in (("p", nnx.data([ARRAY])), ("q", nnx.static(1))):
            setattr(self, name, value)
        self.r = self.s = nnx.data([ARRAY])
        self.t = nnx.List(nnx.data(i) for i in range(3))
        self.u = nnx.List([nnx.static(i) for i in range(3)])


@nnx.dataclass
class Fields(nnx.Pytree):
    a: list[jax.Array] = nnx.data()
    b: int = nnx.static(default=1)


@dataclasses.dataclass
class StandardFields(nnx.Pytree):
    a: list[jax.Array] = nnx.data(default_factory=list)  # noqa: RUF009  # a field specifier


class LayersMixin:
    def __init__(self) -> None:
        self.layers = nnx.data([ARRAY])


class Mixed(LayersMixin, nnx.Module):
    pass


class Cooperative:
    def __init__(self) -> None:
        super().__init__()
        self.layers = nnx.data([ARRAY])


class Grown:
    def grow(self) -> None:
        self.layers = nnx.data([ARRAY])


class UsesBoth(Grown, Cooperative, nnx.Module):
    pass


model = Right(True)
model.a = nnx.data([ARRAY])
fields = Fields(nnx.data([ARRAY]))


# -- unsure
def anything(value: Any) -> Any:
    return value


def unsure(flag: bool) -> None:
    anything(nnx.data(ARRAY))
    values = {"x": nnx.data(ARRAY)}
    anything(values)
    maybe = nnx.data(ARRAY)
    if flag:
        maybe = jnp.zeros(2)
    anything(maybe + 1)
