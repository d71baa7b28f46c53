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
def test_the_raw_value_is_the_reference_and_the_value_an_array(lib: Any) -> None:
    variable = referenced(lib)
    assert variable.ref is True
    assert isinstance(variable.get_raw_value(), jax.Ref)
    assert isinstance(variable[...], jax.Array)
    assert isinstance(variable.get_value(), jax.Array)
    assert not isinstance(lib.Param(1).get_raw_value(), jax.Ref)
    assert (variable.shape, variable.dtype) == ((2,), jnp.float32)


@both
def test_writing_changes_the_reference_in_place(lib: Any) -> None:
    variable = referenced(lib)
    ref = variable.get_raw_value()
    variable[...] = jnp.array([3.0, 4.0])
    assert variable.get_raw_value() is ref
    np.testing.assert_array_equal(ref[...], [3.0, 4.0])
    variable.set_value(jnp.array([5.0, 6.0]))
    variable[1] = 7.0
    assert variable.get_raw_value() is ref
    np.testing.assert_array_equal(ref[...], [5.0, 7.0])
    variable[...] += 1.0
    np.testing.assert_array_equal(variable[...], [6.0, 8.0])
    np.testing.assert_array_equal(variable.get_value(index=1), 8.0)
    np.testing.assert_array_equal(variable[0], 6.0)


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


@both
def test_a_copy_has_a_reference_of_its_own(lib: Any) -> None:
    variable = referenced(lib, tag="t")
    for duplicate in (variable.copy(), variable.replace(), variable.to_state()):
        assert duplicate.ref
        assert duplicate.tag == "t"
        assert duplicate.get_raw_value() is not variable.get_raw_value()
        duplicate[...] = jnp.zeros(2)
    np.testing.assert_array_equal(variable[...], [1.0, 2.0])


@both
@pytest.mark.parametrize("ref", [True, False])
def test_a_copy_may_be_stored_in_the_other_way(lib: Any, ref: bool) -> None:
    variable = lib.Param(jnp.ones(2), ref=not ref)
    for duplicate in (variable.copy(ref=ref), variable.copy(ref=ref).copy(tag="t")):
        assert duplicate.ref is ref
        assert isinstance(duplicate.get_raw_value(), jax.Ref) is ref
        duplicate[...] = jnp.zeros(2)
    np.testing.assert_array_equal(variable[...], [1.0, 1.0])


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


@pytest.mark.filterwarnings("ignore:Variable hooks are deprecated")
@both
def test_hooks_work_on_the_value_and_not_on_the_reference(lib: Any) -> None:
    class Shifted(lib.Variable):
        def on_get_value(self, value: Any) -> Any:
            assert isinstance(value, jax.Array)
            return value + 10.0

        def on_set_value(self, value: Any) -> Any:
            return value - 10.0

    variable = Shifted(jnp.ones(2), ref=True)
    np.testing.assert_array_equal(variable[...], [11.0, 11.0])
    variable[...] = jnp.full(2, 15.0)
    np.testing.assert_array_equal(variable.get_raw_value()[...], [5.0, 5.0])
    np.testing.assert_array_equal(variable[...], [15.0, 15.0])
