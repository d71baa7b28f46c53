"""Variables: reading and writing of values of many kinds; laws run against flax too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx as flax_nnx
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.core.libraries import both, plain, seen

# The oracle recommends overriding `get_value` instead.
pytestmark = pytest.mark.filterwarnings("ignore:Variable hooks are deprecated")

# -- reading and writing ---------------------------------------------------------------------------

VALUES: dict[str, Callable[[], Any]] = {
    "floats": lambda: jnp.arange(4.0),
    "ints": lambda: jnp.arange(3),
    "matrix": lambda: jnp.zeros((2, 3)),
    "scalar": lambda: jnp.float32(1),
    "weak": lambda: jnp.array(1.0),
    "numpy": lambda: np.arange(4.0),
    "list": lambda: [1, 2, 3],
    "tuple": lambda: (1, 2),
    "int": lambda: 3,
    "text": lambda: "abc",
}
NEW_VALUES: dict[str, Callable[[], Any]] = {
    "float": lambda: 2.5,
    "int": lambda: 7,
    "bool": lambda: True,
    "none": lambda: None,
    "text": lambda: "x",
    "list": lambda: [1, 2, 3, 4],
    "ints": lambda: jnp.arange(4),
    "one_float": lambda: jnp.ones(1),
    "int_matrix": lambda: jnp.ones((2, 3), jnp.int32),
    "int_scalar": lambda: jnp.int32(3),
    "numpy": lambda: np.full(4, 2.0),
    "numpy16": lambda: np.full(3, 2, np.float16),
    "wrong_shape": lambda: jnp.ones(7),
}
WRITES: dict[str, Callable[[Any, Any], None]] = {
    "v[...]=x": lambda v, x: v.__setitem__(..., x),
    "v[0]=x": lambda v, x: v.__setitem__(0, x),
    "v[-1]=x": lambda v, x: v.__setitem__(-1, x),
    "v[1:3]=x": lambda v, x: v.__setitem__(slice(1, 3), x),
    "v[array]=x": lambda v, x: v.__setitem__(jnp.array([0, 1]), x),
    "set_value": lambda v, x: v.set_value(x),
    "set_value_index": lambda v, x: v.set_value(x, index=1),
    "set_value_ellipsis": lambda v, x: v.set_value(x, index=...),
    "set_raw_value": lambda v, x: v.set_raw_value(x),
    "raw_value": lambda v, x: setattr(v, "raw_value", x),
    "v.value=x": lambda v, x: setattr(v, "value", x),
}
READS: dict[str, Callable[[Any], Any]] = {
    "v[...]": lambda v: v[...],
    "v[0]": lambda v: v[0],
    "v[-1]": lambda v: v[-1],
    "v[1:]": lambda v: v[1:],
    "v[99]": lambda v: v[99],
    "v[0,1]": lambda v: v[0, 1],
    "v[None]": lambda v: v[None],
    "v[array]": lambda v: v[jnp.array([0, 1])],
    "v[text]": lambda v: v["a"],
    "value": lambda v: v.value,
    "get_value": lambda v: v.get_value(),
    "get_value_index": lambda v: v.get_value(index=1),
    "get_value_ellipsis": lambda v: v.get_value(index=...),
    "raw_value": lambda v: v.raw_value,
    "get_raw_value": lambda v: v.get_raw_value(),
}
# `v[...]` of what is no array is an error in flax; here it is the value.
ARRAYS = ["floats", "ints", "matrix", "scalar", "weak", "numpy"]
ELLIPSIS_READS = ["v[...]", "get_value_ellipsis"]
ELLIPSIS_WRITES = ["v[...]=x", "set_value_ellipsis"]


def read_all(lib: Any, read: Any, value: Any) -> Any:
    return seen(lambda: read(lib.Param(VALUES[value]())))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("value", VALUES)
def test_reading_gives_what_flax_gives(read: str, value: str) -> None:
    ours = read_all(nnx, READS[read], value)
    if read in ELLIPSIS_READS and value not in ARRAYS:
        assert ours == VALUES[value]()
    else:
        assert ours == read_all(flax_nnx, READS[read], value)


def after_write(lib: Any, write: Any, value: str, new: Any) -> Any:
    variable = lib.Param(VALUES[value]())
    result = seen(lambda: write(variable, new()))
    return (
        result,
        repr(plain(variable.get_value())),
        getattr(variable.get_value(), "weak_type", None),
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("new", NEW_VALUES)
@pytest.mark.parametrize("value", VALUES)
def test_writing_casts_broadcasts_and_fails_as_flax_does(value: str, new: str) -> None:
    make = NEW_VALUES[new]
    for name, write in WRITES.items():
        ours = after_write(nnx, write, value, make)
        if name in ELLIPSIS_WRITES and value not in ARRAYS:
            assert ours[:2] == (None, repr(plain(make()))), name
        else:
            assert ours == after_write(flax_nnx, write, value, make), name


def test_set_value_of_a_variable_takes_its_value() -> None:
    variable = nnx.Param(1)
    variable.set_value(nnx.BatchStat(2))
    assert variable.get_value() == 2
    assert type(variable.get_value()) is int


@both
def test_a_write_replaces_the_array_and_leaves_the_old_one_alone(lib: Any) -> None:
    for old in (jnp.zeros(2), np.zeros(2)):
        variable = lib.Param(old)
        variable[0] = 1.0
        variable[...] = variable[...] + 1
        np.testing.assert_array_equal(np.asarray(variable[...]), [2.0, 1.0])


def test_a_numpy_value_of_someone_else_is_not_changed_by_a_write() -> None:
    mine = np.zeros(2)
    variable = nnx.Param(mine)
    variable[0] = 1.0
    variable[...] = 3.0
    np.testing.assert_array_equal(mine, [0.0, 0.0])


@both
@pytest.mark.parametrize("value", [{"a": 1, "b": 2}, [1, 2]], ids=["dict", "list"])
def test_items_of_container_values_are_read_written_and_deleted(lib: Any, value: Any) -> None:
    key = "b" if isinstance(value, dict) else 1
    variable = lib.Variable(type(value)(value))
    variable[key] = 5
    assert variable[key] == 5
    assert len(variable) == 2
    del variable[key]
    assert len(variable.get_value()) == 1


@both
def test_writing_a_part_of_a_tuple_is_a_type_error(lib: Any) -> None:
    variable = lib.Variable((1, 2))
    with pytest.raises(TypeError):
        variable[0] = 3
    assert variable.get_value() == (1, 2)


@both
def test_a_callable_value_is_called(lib: Any) -> None:
    assert lib.Variable(lambda a, *, b: a + b)(1, b=2) == 3


shapes = st.sampled_from([(), (1,), (3,), (2, 3), (2, 1)])
dtypes = st.sampled_from([jnp.float32, jnp.int32, jnp.bool_, jnp.float16])


@settings(max_examples=25, deadline=None)
@given(old=shapes, new=shapes, old_dtype=dtypes, new_dtype=dtypes)
@pytest.mark.filterwarnings("ignore")
def test_v_ellipsis_keeps_shape_and_dtype_or_fails_whatever_is_assigned(
    old: Any, new: Any, old_dtype: Any, new_dtype: Any
) -> None:
    results = []
    for lib in (nnx, flax_nnx):
        variable = lib.Param(jnp.zeros(old, old_dtype))
        failure = seen(lambda v=variable: v.__setitem__(..., jnp.ones(new, new_dtype)))
        results.append((failure, plain(variable.get_value())))
        assert (variable.shape, variable.dtype) == (old, old_dtype)
    assert results[0] == results[1]
