"""`vmap` of functions over objects: it is the loop over the lanes; the laws hold in NNX too."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

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
def test_a_second_call_goes_on_from_the_first(lib, mode):
    model, loop = stacked_model(lib), stacked_model(lib)
    mapped = lib.vmap(update, **mode)
    for xs in (XS, XS + 1):
        expected, loop = vmap_by_loop(update, loop, xs)
        np.testing.assert_allclose(mapped(model, xs), expected)
    assert values(model) == values(loop)


@both
@all_modes
def test_models_in_containers_are_mapped(lib, mode):
    def step(nest: Any, x: Any) -> Any:
        return {"out": [update(nest["a"][0], x), update(nest["a"][1], x)]}

    nest = {"a": [stacked_model(lib), stacked_model(lib)]}
    expected, left = vmap_by_loop(update, stacked_model(lib), XS)
    result = lib.vmap(step, **mode)(nest, XS)
    for index in range(2):
        np.testing.assert_allclose(result["out"][index], expected)
        assert values(nest["a"][index]) == values(left)


@both
@all_modes
def test_keyword_arguments_are_mapped_over_the_first_axis(lib, mode):
    model = stacked_model(lib)
    expected, left = vmap_by_loop(update, stacked_model(lib), XS)
    result = lib.vmap(lambda x, model: update(model, x), **mode)(XS, model=model)
    np.testing.assert_allclose(result, expected)
    assert values(model) == values(left)


@both
@all_modes
def test_a_bare_variable_is_mapped_and_written_back(lib, mode):
    total = lib.BatchStat(jnp.zeros(4))

    def step(total: Any, x: Any) -> Any:
        total[...] += x.sum()
        return x

    lib.vmap(step, **mode)(total, XS)
    assert total[...].tolist() == XS.sum(1).tolist()


@both
@all_modes
def test_the_variables_of_a_state_are_mapped_and_written_back(lib, mode):
    model = stacked_model(lib)
    state = lib.state(model)

    def step(state: Any, x: Any) -> Any:
        state["total"][...] += x.sum()
        return (state["weight"][...] * x).sum()

    result = lib.vmap(step, **mode)(state, XS)
    np.testing.assert_allclose(result, (np.asarray(model.weight[...]) * XS).sum(1))
    assert model.total[...].tolist() == XS.sum(1).tolist()


@both
@all_modes
def test_a_variable_may_get_another_shape(lib, mode):
    model = stacked_model(lib)
    lib.vmap(lambda model, x: model.total.set_value(x * 2), **mode)(model, XS)
    assert model.total[...].tolist() == (XS * 2).tolist()


@both
@all_modes
def test_metadata_set_inside_comes_back(lib, mode):
    model = stacked_model(lib)
    lib.vmap(lambda model: model.weight.set_metadata(seen="yes"), **mode)(model)
    assert model.weight.get_metadata("seen") == "yes"


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


@both
@all_modes
def test_jit_of_vmap_is_vmap(lib, mode):
    model = stacked_model(lib)
    expected, left = vmap_by_loop(update, stacked_model(lib), XS)
    result = lib.jit(lib.vmap(update, **mode), **mode)(model, XS)
    np.testing.assert_allclose(result, expected)
    assert values(model) == values(left)


@both
@all_modes
def test_vmap_of_vmap_is_the_loop_of_the_loop(lib, mode):
    xs = jnp.arange(24.0).reshape(2, 4, 3)
    weight, total = jnp.arange(24.0).reshape(2, 4, 3), jnp.zeros((2, 4))
    model = model_of(lib, weight=lib.Param(weight), total=lib.BatchStat(total))

    def step(model: Any, x: Any) -> Any:
        model.total[...] += (model.weight[...] * x).sum()
        return model.total[...] + 1

    result = lib.vmap(lib.vmap(step, **mode), **mode)(model, xs)
    expected = (np.asarray(weight) * np.asarray(xs)).sum(-1)
    np.testing.assert_allclose(result, expected + 1)
    np.testing.assert_allclose(model.total[...], expected)


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
def test_broadcast_streams_give_all_lanes_the_same_numbers(lib, mode):
    rngs = lib.Rngs(params=0)
    mapped = lib.vmap(lambda rngs, x: rngs.params.normal(()), in_axes=(None, 0), **mode)
    expected = jax.random.normal(jax.random.fold_in(jax.random.key(0), 0), ())
    assert mapped(rngs, XS).tolist() == [float(expected)] * 4
    assert int(rngs.params.count[...]) == 1


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


@both
@all_modes
def test_a_class_can_be_mapped(lib: Any, mode: Any):
    class Layer(lib.Module):
        def __init__(self, rngs: Any) -> None:
            self.weight = lib.Param(rngs.params.normal((3,)))

    rngs = lib.Rngs(params=0).split(5)
    made = lib.vmap(Layer, **mode)(rngs)
    assert (type(made), made.weight.shape) == (Layer, (5, 3))
    assert rngs.params.count[...].tolist() == [1] * 5


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


@both
@all_modes
def test_a_mapped_function_keeps_its_name(lib, mode):
    mapped = lib.vmap(update, **mode)
    assert (mapped.__name__, mapped.__doc__, mapped.__wrapped__) == (
        "update",
        update.__doc__,
        update,
    )
