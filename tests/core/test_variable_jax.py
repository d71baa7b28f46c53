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


def test_a_variable_has_slots_and_can_be_referenced_weakly() -> None:
    variable = nnx.Param(1)
    assert not hasattr(variable, "__dict__")
    assert weakref.ref(variable)() is variable
