"""`vmap` of functions over objects: it is the loop over the lanes; the laws hold in NNX too."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.mapping_scenarios import (
    all_modes,
    model_of,
    stacked_model,
    update,
    values,
    vmap_by_loop,
)

XS = jnp.arange(12.0).reshape(4, 3)


# -- values ------------------------------------------------------------------------------------


@both
@all_modes
@pytest.mark.parametrize("name", ["data", ("data", "model")], ids=str)
def test_spmd_axis_names_change_no_value(lib, mode, name):
    expected, _ = vmap_by_loop(update, stacked_model(lib), XS)
    mapped = lib.vmap(update, spmd_axis_name=name, **mode)
    np.testing.assert_allclose(mapped(stacked_model(lib), XS), expected)


@both
@all_modes
def test_axis_size_maps_a_function_of_nothing(lib, mode):
    made = lib.vmap(lambda: model_of(lib, weight=lib.Param(jnp.ones(2))), axis_size=5, **mode)()
    assert made.weight[...].tolist() == np.ones((5, 2)).tolist()


# -- random numbers and new models -------------------------------------------------------------


# -- decorators --------------------------------------------------------------------------------


@both
def test_the_decorator_works_bare_with_arguments_and_on_methods(lib: Any):
    class Model(lib.Module):
        def __init__(self) -> None:
            self.total = lib.BatchStat(jnp.zeros(4))

        @lib.vmap
        def add(self, x: Any) -> Any:
            self.total[...] += x.sum()
            return x * 2

        @lib.vmap(in_axes=(None, 1), out_axes=1)
        def read(self, x: Any) -> Any:
            return x + self.total[0]

    model = Model()
    assert model.add(XS).tolist() == (XS * 2).tolist()
    assert model.total[...].tolist() == XS.sum(1).tolist()
    assert model.read(XS).tolist() == (XS + XS[0].sum()).tolist()


# -- structure, errors, closures -------------------------------------------------------------------


# -- structure ---------------------------------------------------------------------------------


# -- errors ------------------------------------------------------------------------------------


@both
@all_modes
def test_without_any_axis_or_size_there_is_an_error(lib, mode):
    with pytest.raises(ValueError, match="axis_size"):
        lib.vmap(lambda x: x, in_axes=None, **mode)(XS)
    with pytest.raises(ValueError, match="axis_size"):
        lib.vmap(lambda: 1.0, **mode)()


@both
@all_modes
def test_axes_of_different_sizes_are_an_error(lib, mode):
    model = stacked_model(lib, 5)
    before = values(model)
    with pytest.raises(ValueError, match="inconsistent sizes"):
        lib.vmap(update, **mode)(model, XS)
    with pytest.raises(ValueError, match="inconsistent sizes"):
        lib.vmap(lambda x: x, axis_size=3, **mode)(XS)
    assert values(model) == before


@both
def test_one_new_object_under_two_out_axes_is_an_error(lib):
    def step(x: Any) -> Any:
        made = model_of(lib, weight=lib.Param(x))
        return made, made

    with pytest.raises(ValueError, match="Inconsistent aliasing"):
        lib.vmap(step, out_axes=(0, 1))(XS)


# -- ours --------------------------------------------------------------------------------------


@all_modes
def test_every_shared_variable_with_a_value_per_lane_is_named(mode):
    model = model_of(
        nnx,
        inner=model_of(nnx, first_total=nnx.BatchStat(jnp.zeros(()))),
        second_total=nnx.BatchStat(jnp.zeros(())),
    )

    def step(model: Any, x: Any) -> None:
        model.inner.first_total[...] += x.sum()
        model.second_total[...] += x.sum()

    with pytest.raises(nnx.errors.BroadcastChangedError) as caught:
        nnx.vmap(step, in_axes=(None, 0), **mode)(model, XS)
    text = str(caught.value)
    assert "first_total" in text
    assert "second_total" in text
    assert "inner" in text
    assert "Fix: " in text
    assert float(model.inner.first_total[...]) == float(model.second_total[...]) == 0.0
