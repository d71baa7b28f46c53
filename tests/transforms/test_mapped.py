"""`vmap`, a `scan` without a carry and, on one device, `pmap` are the loop over the lanes; so in NNX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.mapping_scenarios import model_of, stacked_model, update, values, vmap_by_loop
from tests.transforms.modes import all_modes, fixed_modes

XS = jnp.arange(12.0).reshape(4, 3)

each_map = pytest.mark.parametrize("transform", ["vmap", "scan", "pmap"])


def rows(transform: str) -> Any:
    """Float [lanes, 3]: `pmap` has one lane, since there is one device."""
    return XS[1:2] if transform == "pmap" else XS


def mapped(lib: Any, transform: str, step: Any, in_axes: Any = 0, out_axes: Any = 0, **mode: Any):
    return getattr(lib, transform)(step, in_axes=in_axes, out_axes=out_axes, **mode)


def read(model: Any, x: Any) -> Any:
    """Read the Variables of a lane, write none."""
    return model.weight[...] * x + model.total[...].reshape(1)


@both
@all_modes
@each_map
def test_the_result_and_the_variables_are_those_of_the_loop(lib, mode, transform):
    xs = rows(transform)
    model, loop = (stacked_model(lib, len(xs)) for _ in range(2))
    variables = (model.weight, model.total, model.inner)
    run = mapped(lib, transform, update, **mode)
    for inputs in (xs, xs + 1):
        expected, loop = vmap_by_loop(update, loop, inputs)
        np.testing.assert_allclose(run(model, inputs), expected)
    assert values(model) == values(loop)
    after = (model.weight, model.total, model.inner)
    assert all(one is other for one, other in zip(variables, after, strict=True))


@both
@all_modes
@each_map
def test_split_streams_give_each_lane_its_own_numbers(lib, mode, transform):
    rngs = lib.Rngs(params=0).split(len(rows(transform)))
    keys = rngs.params.key[...]
    result = mapped(lib, transform, lambda rngs: rngs.params.normal((2,)), **mode)(rngs)
    expected = [jax.random.normal(jax.random.fold_in(key, 0), (2,)) for key in keys]
    np.testing.assert_array_equal(result, np.stack(expected))
    assert rngs.params.count[...].tolist() == [1] * len(keys)


@both
@all_modes
@each_map
def test_models_made_inside_come_out_stacked(lib, mode, transform):
    def create(x: Any) -> Any:
        return model_of(lib, weight=lib.Param(x * 2), kind="made")

    made = mapped(lib, transform, create, **mode)(rows(transform))
    assert (type(made).__name__, type(made.weight), made.kind) == ("Model", lib.Param, "made")
    assert made.weight[...].tolist() == (rows(transform) * 2).tolist()


@both
@all_modes
@each_map
def test_a_constant_result_is_repeated_along_its_axis(lib, mode, transform):
    xs = rows(transform)
    assert mapped(lib, transform, lambda x: 3.0, **mode)(xs).tolist() == [3.0] * len(xs)
    assert mapped(lib, transform, lambda x: None, **mode)(xs) is None


@both
@all_modes
@pytest.mark.parametrize("transform", ["vmap", "pmap"])
def test_collectives_know_the_axis_name(lib, mode, transform):
    def step(model: Any, x: Any) -> Any:
        return jax.lax.psum(x, "lanes"), jax.lax.axis_index("lanes")

    xs = rows(transform)
    model = stacked_model(lib, len(xs))
    total, index = mapped(lib, transform, step, axis_name="lanes", **mode)(model, xs)
    assert total.tolist() == [xs.sum(0).tolist()] * len(xs)
    assert index.tolist() == list(range(len(xs)))


# -- axes --------------------------------------------------------------------------------------


@both
@all_modes
@each_map
def test_an_argument_without_axis_is_the_same_for_all_lanes(lib, mode, transform):
    model = model_of(lib, weight=lib.Param(jnp.arange(3.0)), total=lib.BatchStat(jnp.ones(())))
    before, xs = values(model), rows(transform)
    result = mapped(lib, transform, read, in_axes=(None, 0), **mode)(model, xs)
    assert result.tolist() == (xs * jnp.arange(3.0).reshape(1, 3) + 1).tolist()
    assert values(model) == before


@both
@all_modes
@each_map
@pytest.mark.parametrize("axis", [1, -1], ids=str)
def test_other_axes_map_and_write_back_along_themselves(lib, mode, transform, axis):
    xs = rows(transform)
    model = model_of(lib, weight=lib.Param(xs.T))

    def step(model: Any, x: Any) -> Any:
        model.weight[...] += x
        return {"array": model.weight[...], "model": model_of(lib, weight=lib.Param(x))}

    run = mapped(lib, transform, step, in_axes=(axis, 0), out_axes=axis, **mode)
    result = run(model, xs)
    assert model.weight[...].tolist() == (xs.T * 2).tolist()
    assert result["array"].tolist() == (xs.T * 2).tolist()
    assert result["model"].weight[...].tolist() == xs.T.tolist()


@both
@fixed_modes
@each_map
def test_a_prefix_maps_the_variables_of_one_model_differently(lib, mode, transform):
    xs = rows(transform)
    model = model_of(lib, weight=lib.Param(xs), total=lib.BatchStat(jnp.ones(())))
    axes = lib.prefix(model, {lib.Param: 0, ...: None}, graph=mode.get("graph", True))

    def step(model: Any, x: Any) -> Any:
        model.weight[...] *= 2
        return read(model, x)

    result = mapped(lib, transform, step, in_axes=(axes, 0), **mode)(model, xs)
    assert result.tolist() == (xs * xs * 2 + 1).tolist()
    assert model.weight[...].tolist() == (xs * 2).tolist()


@both
@fixed_modes
@each_map
def test_a_prefix_places_the_axes_of_what_comes_out(lib: Any, mode: Any, transform: str) -> None:
    class Pair(lib.Module):
        def __init__(self, x: Any) -> None:
            self.weight = lib.Param(x)
            self.total = lib.BatchStat(x)

    xs = rows(transform)
    axes = lib.prefix(Pair(xs[0]), {lib.Param: 1, ...: 0}, graph=mode.get("graph", True))
    made = mapped(lib, transform, Pair, out_axes=axes, **mode)(xs)
    assert made.weight[...].tolist() == xs.T.tolist()
    assert made.total[...].tolist() == xs.tolist()


@both
@each_map
def test_state_axes_place_the_variables_of_a_new_model(lib, transform):
    def create(x: Any) -> Any:
        return model_of(lib, weight=lib.Param(x), total=lib.BatchStat(x)), x

    xs = rows(transform)
    axes = lib.StateAxes({lib.Param: 1, ...: 0})
    made, same = mapped(lib, transform, create, out_axes=(axes, 0))(xs)
    assert made.weight[...].tolist() == xs.T.tolist()
    assert made.total[...].tolist() == same.tolist() == xs.tolist()


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
