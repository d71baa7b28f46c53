"""Writes that do not go through `Pytree.__setattr__` are seen by all that uses a record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from typed_nnx._graph.record import verify


def overridden(lib: Any) -> Any:
    class Model(lib.Module):
        def __init__(self) -> None:
            self.w = lib.Param(jnp.array(2.0))
            self.sign = 1

        def __setattr__(self, name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

    return Model()


def with_property(lib: Any) -> Any:
    class Model(lib.Module):
        def __init__(self) -> None:
            self.w = lib.Param(jnp.array(2.0))
            self._sign = 1

        @property
        def sign(self) -> int:
            return self._sign

        @sign.setter
        def sign(self, value: int) -> None:
            self.__dict__["_sign"] = value

    return Model()


def with_method(lib: Any) -> Any:
    class Model(lib.Module):
        def __init__(self) -> None:
            self.w = lib.Param(jnp.array(2.0))
            self.sign = 1

        def take(self, **values: Any) -> None:
            self.__dict__.update(values)

    return Model()


def with_descriptor(lib: Any) -> Any:
    class Stored:
        def __get__(self, instance: Any, owner: Any) -> Any:
            return self if instance is None else instance.__dict__["_sign"]

        def __set__(self, instance: Any, value: Any) -> None:
            instance.__dict__["_sign"] = value

    class Model(lib.Module):
        sign = Stored()

        def __init__(self) -> None:
            self.w = lib.Param(jnp.array(2.0))
            self.sign = 1

    return Model()


def assign(model: Any, sign: int) -> None:
    if hasattr(model, "take"):
        model.take(sign=sign)
    else:
        model.sign = sign


MAKERS: list[Callable[[Any], Any]] = [overridden, with_property, with_method, with_descriptor]


@both
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("depth", [0, 2])
def test_a_static_value_written_past_us_is_seen(lib: Any, make: Any, depth: int) -> None:
    model = make(lib)
    root = lib.List([lib.Dict(inner=model)]) if depth else model

    def read(root: Any) -> Any:
        found = root[0].inner if depth else root
        return found.w[...] * found.sign

    jitted = lib.jit(read)
    assert float(jitted(root)) == 2.0
    for sign in (-1, 7, 1):
        assign(model, sign)
        assert float(jitted(root)) == 2.0 * sign
        assert float(read(lib.clone(root))) == 2.0 * sign
        assert float(read(lib.merge(*lib.split(root)))) == 2.0 * sign


# flax takes an attribute that goes past its `__setattr__` for static, and refuses another dict.


def test_a_variable_written_past_us_is_seen() -> None:
    model = overridden(nnx)
    jitted = nnx.jit(lambda m: m.w[...] * m.sign)
    jitted(model)
    model.w = nnx.Param(jnp.array(5.0))
    assert float(jitted(model)) == 5.0
    model.extra = nnx.Param(jnp.array(1.0))
    assert sorted(nnx.state(model)) == ["extra", "w"]


def test_another_dict_of_attributes_is_seen() -> None:
    class A(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.array(2.0))
            self.n = 1

    model = A()
    read = nnx.jit(lambda m: m.w[...] * m.n)
    assert float(read(model)) == 2.0
    model.__dict__ = {**model.__dict__, "w": nnx.Param(jnp.array(3.0)), "n": 4}
    assert float(read(model)) == 12.0
    assert float(nnx.state(model).w[...]) == 3.0


@jax.tree_util.register_pytree_node_class
class Fresh:
    """A container that has other children at each look."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def tree_flatten(self) -> Any:
        return ({"x": self.x},), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: Any) -> Fresh:
        return cls(children[0]["x"])


@pytest.mark.parametrize("verified", [False, True])
def test_a_container_with_other_children_at_each_look_is_read_anew(
    verified: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "enabled", verified)
    model = nnx.Dict(fresh=nnx.data(Fresh(jnp.ones(2))))
    for value in (1.0, 2.0):
        model.fresh.x = jnp.full(2, value)
        assert [leaf.tolist() for leaf in jax.tree.leaves(nnx.state(model))] == [[value] * 2]
        assert nnx.jit(lambda model: model.fresh.x)(model).tolist() == [value] * 2
