"""Pytrees: what is data and what jax sees; laws run with flax too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.core.libraries import both, leaves


def ones() -> jax.Array:
    return jnp.ones(1)


# -- status of attributes --------------------------------------------------------------------------

STEPS: dict[str, Callable[[Any], list[Any]]] = {
    "array": lambda lib: [ones()],
    "numpy": lambda lib: [np.ones(1)],
    "Variable": lambda lib: [lib.Param(1)],
    "int": lambda lib: [1],
    "numpy scalar": lambda lib: [np.float32(1)],
    "shape struct": lambda lib: [jax.ShapeDtypeStruct((1,), jnp.float32)],
    "key": lambda lib: [jax.random.key(0)],
    "List": lambda lib: [lib.List([1, ones()])],
    "data int": lambda lib: [lib.data(1)],
    "data text": lambda lib: [lib.data("a")],
    "data list": lambda lib: [lib.data([ones(), 2])],
    "data nested": lambda lib: [lib.data({"a": (1, [ones(), None])})],
    "static array": lambda lib: [lib.static(ones())],
    "static list of arrays": lambda lib: [lib.static([ones()])],
    "static Variable": lambda lib: [lib.static(lib.Param(1))],
    "static Module": lambda lib: [lib.static(lib.Module())],
    "list of arrays": lambda lib: [[ones()]],
    "tuple of arrays": lambda lib: [(ones(),)],
    "dict of Variables": lambda lib: [{"a": lib.Param(1)}],
    "list of ints": lambda lib: [[1, 2]],
    "State": lambda lib: [lib.State({"a": ones()})],
    "Partial": lambda lib: [jax.tree_util.Partial(jnp.sin, ones())],
    "int, array": lambda lib: [1, ones()],
    "array, int": lambda lib: [ones(), 5],
    "array, list": lambda lib: [ones(), [1, 2]],
    "array, list of arrays": lambda lib: [ones(), [ones()]],
    "array, static": lambda lib: [ones(), lib.static(3)],
    "array, static, int": lambda lib: [ones(), lib.static(3), 4],
    "array, static, array": lambda lib: [ones(), lib.static(3), ones()],
    "int, data array": lambda lib: [1, lib.data(ones())],
    "int, data int, int": lambda lib: [1, lib.data(2), 3],
    "int, list of arrays": lambda lib: [1, [ones()]],
    "data, None": lambda lib: [lib.data(1), None],
    "data None, array": lambda lib: [lib.data(None), ones()],
    "None, array": lambda lib: [None, ones()],
    "None, Variable": lambda lib: [None, lib.Param(1)],
    "static None, array": lambda lib: [lib.static(None), ones()],
    "mark in list": lambda lib: [[lib.data(1)]],
    "mark in data dict": lambda lib: [lib.data({"a": lib.static(1)})],
    "mark in mark": lambda lib: [lib.data(lib.static(1))],
    "data, mark in list": lambda lib: [lib.data([1]), [lib.data(1)]],
}
ERRORS = {
    "static array", "static list of arrays", "static Variable", "static Module", "list of arrays",
    "tuple of arrays", "dict of Variables", "State", "Partial", "int, array",
    "array, static, array", "int, list of arrays", "None, array", "None, Variable",
    "static None, array", "mark in list", "mark in data dict", "mark in mark",
    "data, mark in list",
}  # fmt: skip


def after_steps(lib: Any, base: str, name: str) -> Any:
    node = type("Node", (getattr(lib, base),), {})()
    try:
        for value in STEPS[name](lib):
            node.x = value
    except ValueError as error:
        return "ValueError", str(error).split("'")[0], leaves(node)
    return leaves(node)


@pytest.mark.parametrize("base", ["Pytree", "Module"])
@pytest.mark.parametrize("name", STEPS)
def test_assignments_give_the_leaves_or_the_error_of_flax(name: str, base: str) -> None:
    ours = after_steps(nnx, base, name)
    assert ours == after_steps(flax_nnx, base, name)
    assert (ours[0] == "ValueError" if isinstance(ours, tuple) else False) == (name in ERRORS)


@both
def test_a_deleted_attribute_forgets_its_status(lib: Any) -> None:
    node = lib.Module()
    node.a = ones()
    del node.a
    node.a = 5
    assert leaves(node) == {}
    del node.a
    node.a = ones()
    assert leaves(node) == {".a": "[1.]"}
    with pytest.raises(AttributeError, match="nope"):
        del node.nope


@both
def test_class_attributes_are_not_children(lib: Any) -> None:
    class Node(lib.Pytree):
        shared = jnp.ones(1)
        number = 3

    node = Node()
    assert leaves(node) == {}
    node.number = 4
    assert (node.number, Node.number) == (4, 3)


# -- what jax sees ---------------------------------------------------------------------------------


class AnyNode:
    """Takes its attributes as keywords; mixed into the Pytree of either library."""

    def __init__(self, **attributes: Any) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)


def node_class(lib: Any) -> Any:
    return _node_classes[lib]


_node_classes: Any = {
    lib: type("Node", (AnyNode, lib.Pytree), {}) for lib in (nnx, flax_nnx)
}  # fmt: skip


@both
def test_tree_map_makes_a_new_object_with_statics_and_status(lib: Any) -> None:
    node = node_class(lib)(a=ones(), n=3, ls=lib.data([1, 2]), p=lib.Param(ones(), tag="t"))
    mapped = jax.tree.map(lambda x: x * 2, node)
    assert type(mapped) is type(node)
    assert mapped is not node
    assert leaves(mapped) == {".a": "[2.]", ".ls[0]": "2", ".ls[1]": "4", ".p.value": "[2.]"}
    assert (mapped.n, mapped.p.tag) == (3, "t")
    mapped.ls = 7
    assert leaves(mapped)[".ls"] == "7"
    with pytest.raises(ValueError, match="static attribute 'n'"):
        mapped.n = ones()
    assert leaves(node)[".a"] == "[1.]"


def test_equal_lists_of_two_objects_stay_two() -> None:
    first, second = (node_class(nnx)(sizes=[1, 2], a=ones()) for _ in range(2))
    assert nnx.graphdef(first) == nnx.graphdef(second)
    assert hash(nnx.graphdef(first)) == hash(nnx.graphdef(second))
    copied = nnx.merge(*nnx.split(second))
    assert copied.sizes is second.sizes
    assert copied.sizes is not first.sizes


def test_a_list_that_changed_counts_once_it_is_assigned_again() -> None:
    node = node_class(nnx)(sizes=[1, 2], a=ones())
    length = nnx.jit(lambda node: node.a.sum() * len(node.sizes))
    before = nnx.graphdef(node)
    assert float(length(node)) == 2.0
    node.sizes.append(3)
    node.sizes = node.sizes
    assert nnx.graphdef(node) != before
    assert float(length(node)) == 3.0
