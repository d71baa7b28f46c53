# mypy: disable-error-code="nnx-deprecated"
from __future__ import annotations

import collections
import copy
import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

import typed_nnx as nnx


def layer() -> nnx.Linear:
    return nnx.Linear(1, 1, rngs=nnx.Rngs(0))


def layers() -> list[nnx.Linear]:
    return [layer()]


# -- reports
class Displays(nnx.Module):
    def __init__(self) -> None:
        self.a = [layer(), layer()]  # E: `a` is assigned a list[Linear]  [nnx-plain-container]
        self.b = (jnp.zeros(2), 1)  # E: assign `nnx.data(...)`  [nnx-plain-container]
        self.c = {"x": nnx.Param(jnp.zeros(2))}  # E: assign `nnx.Dict(...)`  [nnx-plain-container]
        self.d = {layer()}  # E: set[Linear]  [nnx-plain-container]
        self.e = [layer() for _ in range(3)]  # E: `nnx.List(...)`  [nnx-plain-container]
        self.f = {name: layer() for name in "ab"}  # E: dict[str, Linear]  [nnx-plain-container]
        self.g = [[1], [jnp.zeros(2)]]  # E: container with jax.Array  [nnx-plain-container]
        self.h = [None, layer()]  # E: container with Linear  [nnx-plain-container]
        self.i = layers()  # E: list[Linear]  [nnx-plain-container]
        self.j: list[nnx.Linear] = [layer()]  # E: list[Linear]  [nnx-plain-container]
        # An annotation in a method is not seen at run time.
        self.k: nnx.Data[list[nnx.Linear]] = [layer()]  # E: list[Linear]  [nnx-plain-container]
        self.m = [layer()] * 3  # E: list[Linear]  [nnx-plain-container]
        self.n = jnp.split(jnp.zeros(4), 2)  # E: list[jax.Array]  [nnx-plain-container]


class Unpacked(nnx.Module):
    def __init__(self, model: nnx.Module) -> None:
        self.graph, self.state = nnx.split(model)  # E: assigned a State  [nnx-plain-container]
        self.params = nnx.state(model)  # E: assigned a State  [nnx-plain-container]


class Given(nnx.Module):
    layers: list[nnx.Linear]
    arrays: tuple[jax.Array, ...]

    def __init__(self, layers: list[nnx.Linear], *arrays: jax.Array) -> None:
        self.layers = layers  # E: list[Linear]  [nnx-plain-container]
        self.arrays = arrays  # E: tuple[jax.Array, ...]  [nnx-plain-container]
        local = [layer()]
        self.local = local  # E: list[Linear]  [nnx-plain-container]


class Filled(nnx.Module):
    def __init__(self, count: int) -> None:
        self.a = []  # E: `a` is assigned a list[Linear]  [nnx-plain-container]
        for _ in range(count):
            self.a.append(layer())
        self.b = {}  # E: `b` is assigned a dict[str, jax.Array]  [nnx-plain-container]
        self.b["x"] = jnp.zeros(2)
        self.c: list[nnx.Param[jax.Array]] = []  # E: list[Param]  [nnx-plain-container]

    def grow(self) -> None:
        self.c.append(nnx.Param(jnp.zeros(2)))


class Returned(nnx.Module):
    def build(self, count: int) -> int:
        self.a = []  # E: `a` is assigned a list[Linear]  [nnx-plain-container]
        self.a.append(layer())
        self.b = collections.defaultdict(list)  # E: `b` is assigned a defaultdict[str, list[Linear]]  [nnx-plain-container]
        self.b["x"] = [layer()]
        return count


class Branches(nnx.Module):
    def __init__(self, flag: bool) -> None:
        if flag:
            self.layers = [layer()]  # E: list[Linear]  [nnx-plain-container]
        else:
            self.layers = []


class Later(nnx.Module):
    layers: list[nnx.Linear] | None

    def __init__(self) -> None:
        self.layers = None

    def setup(self) -> None:
        self.layers = [layer()]  # E: list[Linear]  [nnx-plain-container]


class Plain(nnx.Module, pytree=False):
    pass


class AgainPytree(Plain):
    def __init__(self) -> None:
        self.layers = [layer()]  # E: list[Linear]  [nnx-plain-container]


@nnx.dataclass
class Fields(nnx.Pytree):
    a: list[jax.Array]  # E: `a` is a list[jax.Array]  [nnx-plain-container]
    b: dict[str, nnx.Param[jax.Array]]  # E: write `b: ... = nnx.data()`  [nnx-plain-container]
    # E: list[Linear]  [nnx-plain-container]
    c: list[nnx.Linear] = dataclasses.field(default_factory=list)


# -- correct
class Right(nnx.Module):
    layers: nnx.Data[list[nnx.Linear]]
    CACHE: ClassVar[list[jax.Array]] = [jnp.zeros(2)]

    def __init__(self, count: int) -> None:
        self.layers = [layer() for _ in range(count)]
        self.a = nnx.List([layer()])
        self.b = nnx.Dict({"x": layer()})
        self.c = nnx.data([layer()])
        self.d: dict[str, nnx.Linear] = nnx.data({})
        self.d["x"] = layer()
        self.e: nnx.List[nnx.Linear] = nnx.List([])
        self.e.append(layer())
        self.f = [1, 2, 3]
        self.g = {"a": (1, 2)}
        self.h = [nnx.Linear, nnx.Conv]
        self.i = (jax.nn.relu, jnp.float32)
        self.j = jnp.zeros(2).shape
        self.k = nnx.Sequential(layer(), layer())
        self.m = {1, 2}
        self.n: list[jax.Array] = []
        self.first, self.second = layer(), layer()

    @property
    def every(self) -> list[nnx.Linear]:
        return [*self.layers]

    @every.setter
    def every(self, value: list[nnx.Linear]) -> None:
        self.layers = value

    def reset(self) -> None:
        self.every = [layer()]


class Stays(nnx.Module):
    """What is data once stays data."""

    def __init__(self) -> None:
        self.a: list[nnx.Linear] = nnx.data([])
        self.b: jax.Array | list[jax.Array] = jnp.zeros(2)
        self.b = [jnp.zeros(2)]

    def grow(self) -> None:
        self.a = [layer()]


class Collected(nnx.Module):
    def __init__(self) -> None:
        found = []
        for _ in range(3):
            found.append(layer())
        self.layers = nnx.List(found)
        self.tmp = []
        self.tmp.append(layer())
        self.tmp = nnx.data(self.tmp)
        self.gone = []
        self.gone.append(layer())
        del self.gone


class Loose(nnx.Object):
    def __init__(self) -> None:
        self.layers = [layer()]


class LooseModule(nnx.Module, pytree=False):
    def __init__(self) -> None:
        self.layers = {"x": layer()}


class NoPytree:
    def __init__(self) -> None:
        self.layers = [layer()]


@nnx.dataclass
class RightFields(nnx.Pytree):
    a: jax.Array
    b: nnx.Data[list[jax.Array]]
    c: list[int]
    d: list[jax.Array] = nnx.data()
    e: list[jax.Array] = nnx.data(default_factory=list)


def marked() -> list[nnx.Linear]:
    return nnx.data([layer()])


def two() -> tuple[list[nnx.Linear], int]:
    return nnx.data([layer()]), 1


class Helped(nnx.Module):
    def __init__(self, flag: bool) -> None:
        self.a = marked()
        found = nnx.data([layer()])
        self.b = found
        self.c = nnx.data([layer()]) if flag else None
        self.d = self.make()
        self.e, self.f = two()
        self.g, self.h = nnx.data([layer()]), 1
        self.graph = nnx.graphdef(layer())
        self.state = nnx.data(nnx.state(layer()))

    def make(self) -> list[nnx.Linear]:
        return nnx.data([layer()])


class Converts(nnx.Module):
    """Makes lists data itself."""

    def __init__(self) -> None:
        self.layers = [layer()]
        self.head: Any = None
        self.head = [layer()]

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, nnx.data(value) if isinstance(value, list) else value)


def marked_layers(rngs: nnx.Rngs) -> list[nnx.Linear]:
    return nnx.data([nnx.Linear(2, 2, rngs=rngs)])


class FromFunction(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.layers = marked_layers(rngs)
        self.filled = nnx.data([])
        self.filled.append(jnp.zeros(1))
        self.later = nnx.data(None)
        if rngs is not None:
            self.later = jnp.zeros(1)


class BelowFunction(FromFunction):
    def __init__(self, rngs: nnx.Rngs) -> None:
        super().__init__(rngs)
        self.layers = [nnx.Linear(2, 2, rngs=rngs)]


BelowFunction(nnx.Rngs(0))


class NotAnnotated(nnx.Module):
    def __init__(self):
        self.table = {}
        self.cache = nnx.data({})

    def store(self, x):
        self.table["size"] = 1
        self.cache["x"] = x


NotAnnotated().store(jnp.zeros(1))


# -- unsure
class Unsure(nnx.Module):
    def __init__(
        self,
        many: Sequence[nnx.Linear],
        some: Iterable[jax.Array],
        anything: Any,
        maybe: list[nnx.Linear | None],
        either: list[nnx.Linear] | None,
    ) -> None:
        self.many = many
        self.some = some
        self.anything = [anything]
        self.maybe = maybe
        self.either = either
        self.copied = copy.copy(anything)


# By the version of flax the name may mean `nnx.List`, as in tunix.
Stack = list


class Aliased(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.layers = Stack()
        self.layers.append(nnx.Linear(2, 3, rngs=rngs))
