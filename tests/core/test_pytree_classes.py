"""Every way to write the class of a Pytree; laws run with flax too."""

from __future__ import annotations

import abc
import functools
import inspect
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both, leaves


def ones() -> jax.Array:
    return jnp.ones(1)


@both
def test_properties_with_setters_store_what_they_assign(lib: Any) -> None:
    class Node(lib.Pytree):
        def __init__(self) -> None:
            self._x = ones()

        @property
        def x(self) -> Any:
            return self._x

        @x.setter
        def x(self, value: Any) -> None:
            self._x = value * 2

        @x.deleter
        def x(self) -> None:
            del self._x

        @property
        def fixed(self) -> int:
            return 1

    node = Node()
    node.x = jnp.full(1, 3.0)
    assert leaves(node) == {"._x": "[6.]"}
    with pytest.raises(AttributeError):
        setattr(node, "fixed", 2)  # noqa: B010 -- mypy refuses the assignment
    del node.x
    assert leaves(node) == {}


@both
def test_descriptors_of_the_user_are_called(lib: Any) -> None:
    class Doubled:
        def __set_name__(self, owner: Any, name: str) -> None:
            self.name = f"_{name}"

        def __get__(self, node: Any, owner: Any = None) -> Any:
            return getattr(node, self.name)

        def __set__(self, node: Any, value: Any) -> None:
            setattr(node, self.name, value * 2)

    class Node(lib.Pytree):
        x = Doubled()

        def __init__(self) -> None:
            self.x = ones()

    class Derived(Node):
        pass

    for node in (Node(), Derived()):
        assert leaves(node) == {"._x": "[2.]"}


@both
def test_a_cached_property_is_no_child_whenever_it_is_computed(lib: Any) -> None:
    class Node(lib.Pytree):
        def __init__(self) -> None:
            self.a = ones()

        @functools.cached_property
        def twice(self) -> Any:
            return self.a * 2

    flattened, fresh = Node(), Node()
    jax.tree.leaves(flattened)
    for node in (flattened, fresh):
        assert float(node.twice[0]) == 2.0
        assert leaves(node) == {".a": "[1.]"}
        assert list(lib.to_pure_dict(lib.state(node))) == ["a"]


@both
def test_a_setattr_of_the_user_is_called_for_every_assignment(lib: Any) -> None:
    names: list[str] = []

    class Node(lib.Pytree):
        def __setattr__(self, name: str, value: Any) -> None:
            names.append(name)
            super().__setattr__(name, value)

        def __init__(self) -> None:
            self.a = ones()
            self.b = 2

    node = Node()
    node.c = lib.data(3)
    assert names == ["a", "b", "c"]
    assert leaves(node) == {".a": "[1.]", ".c": "3"}


@both
def test_abstract_methods_are_enforced(lib: Any) -> None:
    class Base(lib.Module, abc.ABC):
        @abc.abstractmethod
        def run(self) -> int: ...

        @property
        @abc.abstractmethod
        def size(self) -> int: ...

    class Partly(Base):
        def run(self) -> int:
            return 1

    class Full(Partly):
        @property
        def size(self) -> int:
            return 2

    for cls in (Base, Partly):
        with pytest.raises(TypeError, match="abstract"):
            cls()
    assert (Full().run(), Full().size) == (1, 2)


@both
def test_new_and_super_slots_may_be_defined(lib: Any) -> None:
    class Node(lib.Pytree):
        __slots__ = ()

        def __new__(cls, x: Any) -> Any:
            return super().__new__(cls)

        def __init__(self, x: Any) -> None:
            setattr(self, "x", x)  # noqa: B010 -- mypy takes the slots for all there is

    assert leaves(Node(ones())) == {".x": "[1.]"}


@both
def test_init_subclass_of_the_user_gets_its_keywords(lib: Any) -> None:
    seen: list[Any] = []

    class Base(lib.Module):
        def __init_subclass__(cls, *, tag: str = "none", **kwargs: Any) -> None:
            super().__init_subclass__(**kwargs)
            seen.append((cls.__name__, tag))

    class _Tagged(Base, tag="x"):
        pass

    class _Plain(Base, pytree=False):
        pass

    assert seen == [("_Tagged", "x"), ("_Plain", "none")]
    assert jax.tree_util.all_leaves([_Plain()])


@both
def test_objects_are_equal_only_to_themselves_and_have_a_hash(lib: Any) -> None:
    one, two = lib.Module(), lib.Module()
    assert one == one
    assert one != two
    assert len({one, two}) == 2


def test_the_signature_of_a_class_is_that_of_its_constructor() -> None:
    class Layer(nnx.Module):
        def __init__(self, din: int, *, dout: int = 3) -> None: ...

    assert str(inspect.signature(Layer)) == "(din: 'int', *, dout: 'int' = 3)"


def test_a_parameter_of_a_constructor_may_be_called_cls() -> None:
    class Holder(nnx.Module):
        def __init__(self, cls: type) -> None:
            self.kind = cls

    assert Holder(cls=dict).kind is dict
