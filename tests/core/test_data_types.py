"""Which types are data, against flax."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.core.libraries import both


class Point(NamedTuple):
    x: Any


VALUES: dict[str, Callable[[Any], Any]] = {
    "array": lambda lib: jnp.ones(2),
    "numpy": lambda lib: np.ones(2),
    "numpy scalar": lambda lib: np.float32(1),
    "key": lambda lib: jax.random.key(0),
    "reference": lambda lib: jax.new_ref(jnp.ones(2)),
    "shape struct": lambda lib: jax.ShapeDtypeStruct((1,), jnp.float32),
    "Param": lambda lib: lib.Param(1),
    "Param of text": lambda lib: lib.Param("a"),
    "Rngs": lambda lib: lib.Rngs(0),
    "Module": lambda lib: lib.Module(),
    "Object": lambda lib: lib.Object(),
    "List": lambda lib: lib.List([1]),
    "Dict": lambda lib: lib.Dict(a=1),
    "State": lambda lib: lib.State({"a": jnp.ones(1)}),
    "empty State": lambda lib: lib.State({}),
    "graphdef": lambda lib: lib.graphdef(lib.Rngs(0)),
    "VariableMetadata": lambda lib: lib.VariableMetadata(jnp.ones(1)),
    "int": lambda lib: 1,
    "bool": lambda lib: True,
    "complex": lambda lib: 1j,
    "text": lambda lib: "a",
    "None": lambda lib: None,
    "list": lambda lib: [1, jnp.ones(1)],
    "nested list": lambda lib: [{"a": (1, [np.ones(1)])}],
    "list of text": lambda lib: ["a", None],
    "dict": lambda lib: {"a": lib.Param(1)},
    "tuple": lambda lib: (lib.Rngs(0),),
    "namedtuple": lambda lib: Point(jnp.ones(1)),
    "set": lambda lib: {1},
    "range": lambda lib: range(3),
    "function": lambda lib: jnp.sin,
    "partial": lambda lib: functools.partial(jnp.sin, jnp.ones(1)),
    "jax Partial": lambda lib: jax.tree_util.Partial(jnp.sin, jnp.ones(1)),
    "class": lambda lib: lib.Param,
    "dtype": lambda lib: jnp.float32,
    "object": lambda lib: object(),
}
DATA = {
    "array", "numpy", "key", "reference", "Param", "Param of text", "Rngs", "Module", "Object",
    "List", "Dict",
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_is_data_says_what_flax_says(name: str) -> None:
    make = VALUES[name]
    assert nnx.is_data(make(nnx)) is (name in DATA)
    assert flax_nnx.is_data(make(flax_nnx)) is (name in DATA)


@pytest.mark.parametrize("name", VALUES)
def test_has_data_says_what_flax_says(name: str) -> None:
    make = VALUES[name]
    assert bool(nnx.has_data(make(nnx))) is bool(flax_nnx.has_data(make(flax_nnx)))


def test_tracers_are_data() -> None:
    found: list[bool] = []
    jax.jit(lambda x: found.append(nnx.is_data(x)))(1.0)
    jax.vmap(lambda x: found.append(nnx.is_data(x)))(jnp.ones(2))
    assert found == [True, True]


@both
@pytest.mark.parametrize("as_decorator", [False, True])
def test_values_of_a_registered_type_are_data(lib: Any, as_decorator: bool) -> None:
    class Custom:
        pass

    before = Custom()
    assert not lib.is_data(before)
    assert lib.register_data_type(Custom) is Custom
    if as_decorator:

        @lib.register_data_type
        class Other:
            pass

        assert lib.is_data(Other())
    assert lib.is_data(before)
    assert lib.has_data([1, before])
    node = lib.Module()
    node.x = before
    assert jax.tree.leaves(node) == [before]
    with pytest.raises(ValueError, match="data"):
        node.ls = [before]


def test_subclasses_of_a_registered_type_are_data() -> None:
    class Base:
        pass

    class Derived(Base):
        pass

    assert not nnx.is_data(Derived())
    nnx.register_data_type(Base)
    assert nnx.is_data(Derived())
