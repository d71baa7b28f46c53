"""`vmap` and the structure of objects: changes, sharing, errors, closures."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.mapping_scenarios import (
    all_modes,
    fixed_modes,
    model_of,
    stacked_model,
    update,
    values,
)

XS = jnp.arange(12.0).reshape(4, 3)


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


@fixed_modes
def test_a_structure_that_must_stay_names_what_changed(mode):
    model = stacked_model(nnx)
    before = values(model)

    def step(model: Any, x: Any) -> None:
        model.extra = nnx.Param(x)

    with pytest.raises(nnx.errors.StructureChangedError, match="extra"):
        nnx.vmap(step, **mode)(model, XS)
    assert values(model) == before


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
