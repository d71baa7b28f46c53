# mypy: disable-error-code="nnx-deprecated"
from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

import typed_nnx as nnx


def layer() -> nnx.Linear:
    return nnx.Linear(1, 1, rngs=nnx.Rngs(0))


# -- reports
class Init(nnx.Module):
    def __init__(self, use_bias: bool) -> None:
        self.a = None
        if use_bias:
            self.a = nnx.Param(jnp.zeros(2))  # E: `a` is static since line  [nnx-data-status]
        self.b: Any = 1
        self.b = jnp.zeros(2)  # E: `b` is static since line  [nnx-data-status]
        self.c: int | nnx.Linear = nnx.static(3)
        self.c = layer()  # E: assigned Linear  [nnx-data-status]
        self.d: Any = ()
        self.d = nnx.List([layer()])  # E: is assigned List  [nnx-data-status]


class Method(nnx.Module):
    cache: nnx.Cache[jax.Array] | None

    def __init__(self) -> None:
        self.cache = None
        self.table: dict[str, int] | jax.Array = {}
        self.head: Any = None

    def start(self) -> None:
        self.cache = nnx.Cache(jnp.zeros(2))  # E: `nnx.data(None)`  [nnx-data-status]
        if self.head is None:
            self.head = layer()  # E: `head` is static  [nnx-data-status]


class Derived(Method):
    def __init__(self) -> None:
        super().__init__()
        self.head = layer()  # E: `head` is static  [nnx-data-status]

    def build(self) -> None:
        self.table = jnp.zeros(2)  # E: `table` is static  [nnx-data-status]


model = Method()
model.head = layer()  # E: `head` is static by `__init__` of Method  [nnx-data-status]


def change(method: Method) -> None:
    method.cache = nnx.Cache(jnp.zeros(2))  # E: `cache` is static by  [nnx-data-status]


class Back(nnx.Module):
    def __init__(self) -> None:
        self.a: nnx.Linear | str = layer()
        self.b: Any = jnp.zeros(2)

    def clear(self) -> None:
        self.a = "none"  # E: `a` is data since line  [nnx-data-status]
        self.b = jax.nn.relu  # E: is not a leaf for jax  [nnx-data-status]


# -- correct
class Right(nnx.Module):
    cache: nnx.Data[nnx.Cache[jax.Array] | None]

    def __init__(self, use_bias: bool) -> None:
        self.cache = None
        self.a = nnx.Param(jnp.zeros(2)) if use_bias else None
        if use_bias:
            self.b: nnx.Param[jax.Array] | None = nnx.Param(jnp.zeros(2))
        else:
            self.b = None
        if use_bias:
            self.k: nnx.Linear | None = None
        else:
            self.k = nnx.Linear(1, 1, rngs=nnx.Rngs(0))
        self.c: nnx.Linear | None = nnx.data(None)
        self.d: nnx.Linear | None = layer()
        self.e = jnp.zeros(2)
        self.e = jnp.ones(2)
        self.f: Any = None
        self.f = nnx.data(layer())
        self.g: Any = 1
        del self.g
        self.g = jnp.zeros(2)
        self.h: int | jax.Array = nnx.data(0)

    def start(self) -> None:
        self.cache = nnx.Cache(jnp.zeros(2))
        self.c = layer()
        self.b = nnx.Param(jnp.ones(2))
        self.h = jnp.zeros(2)

    def stop(self) -> None:
        self.cache = None
        self.d = None
        self.d = layer()
        self.a = None


class Returns(nnx.Module):
    def __init__(self, use_head: bool) -> None:
        if not use_head:
            self.head: nnx.Linear | None = None
            return
        self.head = nnx.Linear(1, 1, rngs=nnx.Rngs(0))


class Loose(nnx.Object):
    def __init__(self) -> None:
        self.cache: nnx.Cache[jax.Array] | None = None

    def start(self) -> None:
        self.cache = nnx.Cache(jnp.zeros(2))


class Numbers(nnx.Module):
    def __init__(self) -> None:
        self.total: jax.Array | float = jnp.zeros(())

    def reset(self) -> None:
        self.total = 0.0

    def add(self, value: jax.Array) -> None:
        self.total = self.total + value


class Overrides(Method):
    def __init__(self) -> None:
        self.head = nnx.data(None)
        super().__init__()

    def start(self) -> None:
        self.head = layer()


class NoSuper(Method):
    """Its attribute is new where it is assigned."""

    def __init__(self) -> None:
        pass

    def build(self) -> None:
        self.head = layer()


right = Right(True)
right.c = layer()
right.d = None
right.e = jnp.ones(2)
loose = Loose()
loose.cache = nnx.Cache(jnp.zeros(2))
overrides = Overrides()
overrides.head = layer()


class Marks(nnx.Module):
    def __init__(self) -> None:
        self.head: Any = None
        self.head = layer()

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, nnx.data(value))


# -- unsure
class Unsure(nnx.Module):
    def __init__(self, anything: Any, flag: bool, head: nnx.Linear | None) -> None:
        self.a = anything
        self.head = head
        if flag:
            self.b: Any = None
        else:
            self.b = nnx.data(None)
        if flag:
            self.c: Any = layer()
        else:
            self.c = None

    def start(self, anything: Any) -> None:
        self.a = layer()
        self.head = layer()
        self.b = layer()
        self.c = layer()


class Opened(nnx.Module):
    def __init__(self, **values: Any) -> None:
        self.a: Any = None
        for name, value in values.items():
            setattr(self, name, value)

    def start(self) -> None:
        self.a = layer()
