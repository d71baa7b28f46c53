"""Variables whose value lives in a mutable array reference of jax; laws run against flax too."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.core.libraries import both


def referenced(lib: Any, value: Any = (1.0, 2.0), **metadata: Any) -> Any:
    return lib.Param(jnp.array(value), ref=True, **metadata)


@both
def test_someone_who_writes_the_reference_writes_the_variable(lib: Any) -> None:
    variable = referenced(lib)
    variable.get_raw_value()[...] = jnp.zeros(2)
    np.testing.assert_array_equal(variable[...], [0.0, 0.0])


@both
def test_values_that_are_no_arrays_cannot_be_referenced(lib: Any) -> None:
    with pytest.raises(TypeError):
        lib.Param([1.0], ref=True)


@both
def test_python_and_numpy_numbers_become_arrays(lib: Any) -> None:
    assert isinstance(lib.Param(1, ref=True).get_value(), jax.Array)
    assert isinstance(lib.Param(np.ones(2), ref=True).get_value(), jax.Array)


def test_update_from_state_writes_into_the_reference() -> None:
    variable, other = referenced(nnx), referenced(nnx, (5.0, 6.0))
    ref = variable.get_raw_value()
    variable.update_from_state(other)
    assert variable.get_raw_value() is ref
    np.testing.assert_array_equal(ref[...], [5.0, 6.0])
    other[...] = jnp.zeros(2)
    np.testing.assert_array_equal(variable[...], [5.0, 6.0])


@both
def test_jit_changes_a_reference_that_it_gets_as_an_argument(lib: Any) -> None:
    variable = referenced(lib)

    @jax.jit
    def double(v: Any) -> None:
        v[...] = v[...] * 2.0
        v[0] = v[0] + 1.0

    double(variable)
    double(variable)
    np.testing.assert_array_equal(variable[...], [7.0, 8.0])


@both
def test_a_reference_is_made_and_used_inside_jit(lib: Any) -> None:
    @jax.jit
    def compute(x: Any) -> Any:
        variable = lib.Param(x, ref=True)
        variable[...] = variable[...] * 3.0
        return variable[...]

    np.testing.assert_array_equal(compute(jnp.ones(2)), [3.0, 3.0])
