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
def test_defaults_and_factories_are_data_too(lib: Any) -> None:
    @lib.dataclass
    class Foo(lib.Pytree):
        a: int = lib.data(default=1)
        b: list[Any] = lib.data(default_factory=lambda: [jnp.ones(())])
        c: list[Any] = lib.static(default_factory=list)
        d: int = 4

    one, two = Foo(), Foo()
    assert list(leaves(one)) == [".a", ".b[0]"]
    assert one.b is not two.b
    assert (one.c, one.d) == ([], 4)


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
def test_order_and_equality_of_static_dataclasses(lib: Any) -> None:
    @lib.dataclass(order=True)
    class Foo(lib.Pytree):
        a: int
        b: str

    assert Foo(1, "a") < Foo(1, "b") < Foo(2, "a")
    assert Foo(1, "a") == Foo(1, "a")
    assert Foo(1, "a") != Foo(1, "b")


@both
def test_the_repr_is_that_of_a_pytree(lib: Any) -> None:
    @lib.dataclass
    class Foo(lib.Pytree):
        a: int

    assert repr(Foo(1)) == "Foo(\n  a=1\n)"


@both
def test_fields_are_inherited_with_their_status(lib: Any) -> None:
    @lib.dataclass
    class Base(lib.Module):
        a: int = lib.data()
        b: int = 2

    @lib.dataclass
    class Derived(Base):
        c: int = lib.data(default=3)

    assert leaves(Derived(1)) == {".a": 1, ".c": 3}
    assert [f.name for f in dataclasses.fields(Derived)] == ["a", "b", "c"]


@both
def test_a_plain_subclass_of_a_dataclass_keeps_the_status(lib: Any) -> None:
    @lib.dataclass
    class Base(lib.Module):
        a: int = lib.data()

    class Plain(Base):
        pass

    assert leaves(Plain(1)) == {".a": 1}


@both
def test_post_init_sees_the_fields_and_may_add_attributes(lib: Any) -> None:
    @lib.dataclass
    class Foo(lib.Module):
        size: int
        scale: dataclasses.InitVar[float]

        def __post_init__(self, scale: float) -> None:
            self.kernel = lib.Param(jnp.full(self.size, scale))

    node = Foo(2, 3.0)
    assert list(leaves(node)) == [".kernel.value"]
    assert float(node.kernel[...].sum()) == 6.0
    assert not hasattr(node, "scale")


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
def test_dataclasses_take_part_in_jit_tree_map_and_replace(lib: Any) -> None:
    @lib.dataclass
    class Foo(lib.Module):
        a: Any = lib.data()
        n: int = 2

    node = Foo(jnp.ones(2))
    assert float(jax.jit(lambda f: (f.a * f.n).sum())(node)) == 4.0
    mapped = jax.tree.map(lambda x: x + 1, node)
    assert (type(mapped), mapped.n) == (Foo, 2)
    replaced = dataclasses.replace(node, n=5)
    assert (replaced.n, type(replaced)) == (5, Foo)
    assert leaves(replaced).keys() == {".a"}


@both
def test_a_static_field_refuses_arrays_in_containers(lib: Any) -> None:
    @lib.dataclass
    class Foo(lib.Pytree):
        a: Any = lib.static()

    with pytest.raises(ValueError, match="data"):
        Foo([jnp.ones(1)])


@both
def test_lists_of_dataclasses_are_data_where_the_field_says_so(lib: Any) -> None:
    @lib.dataclass
    class Inner(lib.Pytree):
        i: int = lib.data()

    @lib.dataclass
    class Outer(lib.Pytree):
        ls: list[Any] = lib.data()
        shapes: list[int]

    node = Outer([Inner(1), Inner(2)], [8, 16])
    assert leaves(node) == {".ls[0].i": 1, ".ls[1].i": 2}


@both
def test_match_args_are_the_fields(lib: Any) -> None:
    @lib.dataclass
    class Foo(lib.Pytree):
        a: int
        b: int = 2

    assert Foo.__match_args__ == ("a", "b")


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
