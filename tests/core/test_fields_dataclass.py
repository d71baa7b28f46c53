"""Pytrees as dataclasses, with `nnx.dataclass` and with the standard one; laws run with flax too."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both


def leaves(node: Any) -> dict[str, Any]:
    found = jax.tree_util.tree_leaves_with_path(node)
    return {jax.tree_util.keystr(path): value for path, value in found}


@both
def test_fields_are_data_static_or_decided_by_value(lib: Any) -> None:
    @lib.dataclass
    class Foo(lib.Pytree):
        i: int = lib.data()
        x: Any
        a: int
        s: str = lib.static(default="hi", kw_only=True)

    node = Foo(1, jnp.ones(()), 3)
    assert list(leaves(node)) == [".i", ".x"]
    assert (node.i, node.a, node.s) == (1, 3, "hi")
    assert Foo(1, 2, 3, s="x").s == "x"
    assert [f.name for f in dataclasses.fields(Foo)] == ["i", "x", "a", "s"]


@both
def test_options_of_fields_work(lib: Any) -> None:
    @lib.dataclass
    class Foo(lib.Pytree):
        a: int = lib.data(kw_only=True)
        b: int = lib.data(init=False, default_factory=lambda: 2)
        c: int = lib.static(default=3, metadata={"mine": 1})

    node = Foo(a=1)
    assert leaves(node) == {".a": 1, ".b": 2}
    field = dataclasses.fields(Foo)[2]
    assert field.metadata["mine"] == 1
    assert field.metadata["static"] is True
    with pytest.raises(TypeError):
        Foo(1)
    with pytest.raises(TypeError):
        Foo(a=1, b=3)


@both
def test_options_of_the_decorator_work(lib: Any) -> None:
    @lib.dataclass(kw_only=True, eq=False)
    class Foo(lib.Pytree):
        a: int = lib.data()
        b: int = 2

    with pytest.raises(TypeError):
        Foo(1)
    assert leaves(Foo(a=1)) == {".a": 1}
    assert Foo(a=1) != Foo(a=1)
    assert hash(Foo(a=1)) is not None


@both
def test_a_plain_subclass_of_a_dataclass_keeps_the_status(lib: Any) -> None:
    @lib.dataclass
    class Base(lib.Module):
        a: int = lib.data()

    class Plain(Base):
        pass

    assert leaves(Plain(1)) == {".a": 1}


@both
def test_the_standard_decorator_reads_the_metadata_of_fields(lib: Any) -> None:
    @dataclasses.dataclass
    class Bar(lib.Pytree):
        a: int = dataclasses.field(metadata={"static": False})
        b: str = dataclasses.field(metadata={"static": True})
        c: Any = None

    node = Bar(a=10, b="hello")
    assert leaves(node) == {".a": 10}
    assert (node.b, node.c) == ("hello", None)
    assert leaves(Bar(1, "x", jnp.ones(()))).keys() == {".a", ".c"}


@both
def test_the_standard_decorator_takes_nnx_fields(lib: Any) -> None:
    @dataclasses.dataclass
    class Bar(lib.Pytree):
        a: int = lib.data()
        b: str = lib.static(default="x")

    assert leaves(Bar(1)) == {".a": 1}


@both
def test_a_static_field_refuses_arrays_in_containers(lib: Any) -> None:
    @lib.dataclass
    class Foo(lib.Pytree):
        a: Any = lib.static()

    with pytest.raises(ValueError, match="data"):
        Foo([jnp.ones(1)])


def test_a_frozen_standard_dataclass_can_be_made_and_flattened() -> None:
    @dataclasses.dataclass(frozen=True)
    class Foo(nnx.Pytree):
        a: Any
        b: int = dataclasses.field(metadata={"static": False})

    node = Foo(jnp.ones(()), 2)
    assert list(leaves(node)) == [".a", ".b"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        node.b = 3  # type: ignore[misc]  # it is the refusal that is tested
    assert jax.tree.map(lambda x: x * 3, node).b == 6
