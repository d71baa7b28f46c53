"""What jax sees of Variables: key paths, structure, caches of jit; laws run against flax too."""

from __future__ import annotations

import weakref
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.core.libraries import both

# The oracle recommends overriding `get_value` instead.
pytestmark = pytest.mark.filterwarnings("ignore:Variable hooks are deprecated")


@both
@pytest.mark.parametrize(
    ("value", "paths"),
    [
        (1.0, [".value"]),
        ([1, 2], [".value[0]", ".value[1]"]),
        ({"b": (1, 2), "a": 3}, [".value['a']", ".value['b'][0]", ".value['b'][1]"]),
        (None, []),
        ((), []),
    ],
    ids=["leaf", "list", "dict", "none", "empty"],
)
def test_key_paths_start_with_value(lib: Any, value: Any, paths: list[str]) -> None:
    leaves = jax.tree_util.tree_leaves_with_path(lib.Param(value))
    assert [jax.tree_util.keystr(path) for path, _ in leaves] == paths


@both
def test_equal_type_and_metadata_mean_equal_structure(lib: Any) -> None:
    def structure(variable: Any) -> Any:
        return jax.tree.structure(variable)

    one = structure(lib.Param(1, a=1, b=(1, 2)))
    again = structure(lib.Param(jnp.ones(3), b=(1, 2), a=1))
    assert one == again
    assert hash(one) == hash(again)
    for other in (lib.Param(1, a=2, b=(1, 2)), lib.Param(1), lib.BatchStat(1, a=1, b=(1, 2))):
        assert one != structure(other)


@both
def test_tree_map_keeps_type_and_metadata_and_maps_the_raw_value(lib: Any) -> None:
    variable = lib.Param(1, tag="t", on_get_value=lambda v, x: x + 100)
    mapped = jax.tree.map(lambda x: x * 10, variable)
    assert (type(mapped), mapped.get_raw_value(), mapped.tag) == (lib.Param, 10, "t")
    assert mapped is not variable


@both
def test_jnp_functions_take_a_variable_as_its_value(lib: Any) -> None:
    x = jnp.array([1.0, -4.0])
    variable = lib.Param(x)
    for function in (jnp.abs, jnp.sum, jnp.sort, jax.nn.relu, jnp.asarray, jnp.square):
        np.testing.assert_array_equal(function(variable), function(x))
    np.testing.assert_array_equal(jnp.dot(variable, variable), 17.0)
    np.testing.assert_array_equal(jnp.where(x > 0.0, variable, 0.0), [1.0, 0.0])


@both
def test_jnp_functions_see_the_value_after_the_get_hooks(lib: Any) -> None:
    variable = lib.Param(jnp.ones(2), on_get_value=lambda v, x: x * 5)
    np.testing.assert_array_equal(jnp.abs(variable), [5.0, 5.0])


def traces_of(calls: list[Any]) -> int:
    """Return how often a jitted function is traced when called with each of these."""
    count = 0

    @jax.jit
    def function(argument: Any) -> Any:
        nonlocal count
        count += 1
        return jax.tree.leaves(argument)

    for call in calls:
        function(call)
    return count


@both
def test_jit_traces_again_after_set_metadata_and_not_after_setting_it_back(lib: Any) -> None:
    variable = lib.Param(jnp.ones(2), a=1)
    count = 0

    @jax.jit
    def function(v: Any) -> Any:
        nonlocal count
        count += 1
        return v[...] * v.a

    assert float(function(variable).sum()) == 2.0
    variable.set_metadata(a=3)
    assert float(function(variable).sum()) == 6.0
    variable.set_metadata(a=1)
    assert float(function(variable).sum()) == 2.0
    assert count == 2


def test_metadata_that_differ_in_type_only_are_told_apart() -> None:
    x = jnp.ones(2)
    assert traces_of([nnx.Param(x, a=1), nnx.Param(x, a=True), nnx.Param(x, a=1.0)]) == 3


def test_a_variable_has_slots_and_can_be_referenced_weakly() -> None:
    variable = nnx.Param(1)
    assert not hasattr(variable, "__dict__")
    assert weakref.ref(variable)() is variable
