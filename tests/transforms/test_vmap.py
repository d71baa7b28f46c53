"""`vmap` of functions over objects: it is the loop over the lanes; the laws hold in NNX too."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
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
    vmap_by_loop,
)

XS = jnp.arange(12.0).reshape(4, 3)


# -- values ------------------------------------------------------------------------------------


@both
@all_modes
def test_the_result_and_the_variables_are_those_of_the_loop(lib, mode):
    model = stacked_model(lib)
    expected, left = vmap_by_loop(update, stacked_model(lib), XS)
    variables = (model.weight, model.total, model.inner)
    result = lib.vmap(update, **mode)(model, XS)
    np.testing.assert_allclose(result, expected)
    assert values(model) == values(left)
    after = (model.weight, model.total, model.inner)
    assert all(one is other for one, other in zip(variables, after, strict=True))


@both
@all_modes
def test_collectives_know_the_axis_name(lib, mode):
    mapped = lib.vmap(
        lambda model, x: (jax.lax.psum(x, "lanes"), jax.lax.axis_index("lanes")),
        axis_name="lanes",
        **mode,
    )
    total, index = mapped(stacked_model(lib), XS)
    assert total.tolist() == [XS.sum(0).tolist()] * 4
    assert index.tolist() == [0, 1, 2, 3]


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


@both
@all_modes
def test_split_streams_give_each_lane_its_own_numbers(lib, mode):
    rngs = lib.Rngs(params=0).split(4)
    keys = rngs.params.key[...]
    result = lib.vmap(lambda rngs: rngs.params.normal((2,)), **mode)(rngs)
    expected = [jax.random.normal(jax.random.fold_in(key, 0), (2,)) for key in keys]
    np.testing.assert_array_equal(result, np.stack(expected))
    assert rngs.params.count[...].tolist() == [1] * 4


@both
@all_modes
def test_models_made_inside_come_out_stacked(lib, mode):
    def create(key: Any) -> Any:
        rngs = lib.Rngs(params=key)
        return model_of(lib, weight=lib.Param(rngs.params.normal((3,))), kind="made")

    keys = jax.random.split(jax.random.key(0), 5)
    made = lib.vmap(create, **mode)(keys)
    expected = [jax.random.normal(jax.random.fold_in(key, 0), (3,)) for key in keys]
    assert (type(made).__name__, type(made.weight), made.kind) == ("Model", lib.Param, "made")
    np.testing.assert_array_equal(made.weight[...], np.stack(expected))


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


@both
@all_modes
def test_models_and_partials_can_be_called(lib, mode):
    model = model_of(lib, weight=lib.Param(jnp.full(3, 2.0)))
    assert lib.vmap(model, **mode)(XS).tolist() == (XS * 2).tolist()
    part = functools.partial(lambda model, x: model(x), model)
    assert lib.vmap(part, **mode)(XS).tolist() == (XS * 2).tolist()


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
