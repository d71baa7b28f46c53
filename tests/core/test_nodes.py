"""One level of an object graph: which values are children, in which order, and how it is rebuilt."""

from __future__ import annotations

import collections
import copy
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import typed_nnx as nnx
from tests.core.libraries import structure
from tests.core.shown import Registered
from typed_nnx._core.nodes import (
    CONTAINER,
    LEAF,
    OBJECT,
    REFERENCE,
    STATIC,
    VARIABLE,
    children_of,
    kind_of,
    rebuild_container,
    spec_of,
)


class Point(NamedTuple):
    x: Any
    y: Any


KINDS: dict[str, tuple[Any, int]] = {
    "int": (1, STATIC),
    "text": ("a", STATIC),
    "function": (len, STATIC),
    "object": (object(), STATIC),
    "set": ({1}, STATIC),
    "array": (jnp.ones(1), LEAF),
    "numpy": (np.ones(1), LEAF),
    "key": (jax.random.key(0), LEAF),
    "Variable": (nnx.BatchStat(1), VARIABLE),
    "Module": (nnx.Module(), OBJECT),
    "Object": (nnx.Object(), OBJECT),
    "List": (nnx.List([]), OBJECT),
    "list": ([1], CONTAINER),
    "dict": ({}, CONTAINER),
    "None": (None, CONTAINER),
    "namedtuple": (Point(1, 2), CONTAINER),
    "registered": (Registered(1, 2), CONTAINER),
    "reference": (jax.new_ref(jnp.ones(1)), REFERENCE),
}


@pytest.mark.parametrize("name", KINDS)
def test_each_value_has_its_kind(name: str) -> None:
    value, kind = KINDS[name]
    assert kind_of(value) == kind
    assert kind_of(value) == kind


def test_a_tracer_is_a_leaf() -> None:
    found: list[int] = []
    jax.jit(lambda x: found.append(kind_of(x)))(1.0)
    assert found == [LEAF]


def test_a_type_that_is_registered_later_becomes_a_container() -> None:
    class Later:
        def __init__(self, a: Any) -> None:
            self.a = a

    assert kind_of(Later(1)) == STATIC
    jax.tree_util.register_pytree_node(Later, lambda x: ((x.a,), None), lambda _, c: Later(*c))
    assert kind_of(Later(1)) == CONTAINER


CONTAINERS: dict[str, Any] = {
    "list": [jnp.ones(1), 2, nnx.Param(3), None],
    "tuple": (jnp.ones(1), "a", [jnp.ones(2)]),
    "dict": {"b": jnp.ones(1), "a": 1, "c": nnx.Param(1)},
    "int keys": {10: jnp.ones(1), 2: nnx.Param(1)},
    "namedtuple": Point(jnp.ones(1), nnx.Param(2)),
    "registered": Registered(jnp.ones(1), nnx.Param(2)),
    "ordered": collections.OrderedDict(b=jnp.ones(1), a=nnx.Param(1)),
    "adam": optax.adam(1e-3).init({"w": jnp.ones(2)}),
    "empty list": [],
    "none": None,
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_is_rebuilt_from_its_spec_and_children(name: str) -> None:
    value = CONTAINERS[name]
    spec = spec_of(value)
    rebuilt = rebuild_container(spec, children_of(value, spec))
    assert type(rebuilt) is type(value)
    assert structure(rebuilt) == structure(value)
    for one, two in zip(jax.tree.leaves(rebuilt), jax.tree.leaves(value), strict=True):
        assert one is two


def test_specs_are_equal_for_equal_structure_and_statics() -> None:
    def spec(n: Any, sizes: Any = (1, 2)) -> Any:
        node: Any = nnx.Module()
        node.n = n
        node.sizes = sizes
        node.kernel = nnx.Param(1)
        return spec_of(node)

    assert spec(1) == spec(1)
    assert hash(spec(1)) == hash(spec(1))
    assert spec(1) != spec(True)
    assert spec(1) != spec(2)
    assert spec(1, [1, 2]) == spec(1, [1, 2])
    assert spec(1, [1, 2]) != spec(1, [2, 1])
    assert spec(1, [1, 2]) != spec(1, (1, 2))
    assert copy.deepcopy(spec(1)) == spec(1)
