"""How single values are shown: in a Variable, as metadata, as an attribute; against flax."""

from __future__ import annotations

import enum
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.core.shown import Lines

from .shown import bag, pair, shown

VALUES: dict[str, Callable[[], Any]] = {
    "vector": pair,
    "matrix": lambda: jnp.ones((4, 5)),
    "large": lambda: jnp.ones((100, 200)),
    "scalar": lambda: jnp.float32(1.5),
    "one_element": lambda: jnp.ones((1, 1)),
    "empty": lambda: jnp.ones((0, 3)),
    "bfloat16": lambda: jnp.ones((3, 4), jnp.bfloat16),
    "bool": lambda: jnp.array([True, False]),
    "complex": lambda: jnp.ones(2, jnp.complex64),
    "numpy": lambda: np.ones((3, 4)),
    "numpy_scalar": lambda: np.float32(2.0),
    "numpy_float64": lambda: np.float64(2.0),
    "numpy_strings": lambda: np.array(["a", "b"]),
    "key": lambda: jax.random.key(0),
    "keys": lambda: jax.random.split(jax.random.key(0), 2),
    "legacy_key": lambda: jax.random.PRNGKey(0),
    "abstract": lambda: jax.ShapeDtypeStruct((2, 3), jnp.float32),
    "int": lambda: 1,
    "float": lambda: 2.5,
    "text": lambda: "ab\nc",
    "none": lambda: None,
    "tuple_of_arrays": lambda: (jnp.ones(2), jnp.zeros((2, 2))),
    "dict": lambda: {"b": 1, "a": jnp.ones(2), "c": [jnp.ones(3), 2]},
    "empty_tuple": lambda: (),
}


@pytest.mark.parametrize("make", VALUES.values(), ids=VALUES)
def test_a_variable_is_shown_as_flax_shows_it(make: Callable[[], Any]) -> None:
    assert shown(nnx.Param(make())) == shown(flax_nnx.Param(make()))


@pytest.mark.parametrize("make", VALUES.values(), ids=VALUES)
def test_a_data_attribute_is_shown_as_flax_shows_it(make: Callable[[], Any]) -> None:
    ours, theirs = (bag(lib, x=lib.data(make())) for lib in (nnx, flax_nnx))
    assert shown(ours) == shown(theirs)


SIZES = [0, 1, 249, 250, 256, 999, 1_000, 1_001, 1_050, 999_999, 1_000_000, 1_000_001]
SIZES += [10**9, 10**9 + 1, 2**38, 10**12 + 1, 10**15]


@pytest.mark.parametrize("elements", SIZES)
@pytest.mark.parametrize("dtype", [jnp.int8, jnp.float32], ids=["int8", "float32"])
def test_sizes_are_written_as_flax_writes_them(elements: int, dtype: Any) -> None:
    abstract = jax.ShapeDtypeStruct((elements,), dtype)
    assert shown(nnx.Param(abstract)) == shown(flax_nnx.Param(abstract))


class Color(enum.IntEnum):
    RED = 1


class Shape(enum.Enum):
    ROUND = 1


class Name(str):
    def __repr__(self) -> str:
        return "Name!"


class Numbers(list):
    def __repr__(self) -> str:
        return "Numbers!"


Pair = namedtuple("Pair", ["left", "right"])  # what flax shows of an untyped one


STATICS: dict[str, Any] = {
    "types": (int, np.float32, jnp.bfloat16, optax.Schedule, list[int], int | str),
    "array_type": jax.Array,
    "dtype": jnp.dtype("float32"),
    "scalar_type": jnp.float32,
    "numbers": (1, 1.5, -0.0, 1e-30, 10**30, 1 + 2j, True, float("nan"), float("inf")),
    "numpy_numbers": (np.float64(1.0), np.float32(2.0), np.int64(3), np.bool_(True)),
    "texts": ("it's", 'say "x"', "a\nb", "é", b"x", np.str_("s"), Name("n")),
    "enums": (Color.RED, Shape.ROUND),
    "subclassed_list": Numbers([1]),
    "named_tuple": Pair(1, int),
    "set": {int},
    "frozenset": frozenset({int}),
    "others": (None, ..., slice(1), range(3), len),
    "nested": [{"b": (1,), "a": [int, {"z": 1, "y": 2}]}, (), [], {}],
    "several_lines": [Lines(), {"k": Lines()}],
}


@pytest.mark.parametrize("value", STATICS.values(), ids=STATICS)
def test_metadata_is_shown_as_flax_shows_it(value: Any) -> None:
    assert shown(nnx.Param(1, note=value)) == shown(flax_nnx.Param(1, note=value))


@pytest.mark.parametrize("value", STATICS.values(), ids=STATICS)
def test_a_static_attribute_is_shown_as_flax_shows_it(value: Any) -> None:
    ours, theirs = (bag(lib, x=lib.static(value)) for lib in (nnx, flax_nnx))
    assert shown(ours) == shown(theirs)
