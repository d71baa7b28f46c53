"""`in_axes` and `out_axes` of `vmap`, `StateAxes` and `prefix`; the laws hold in NNX too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from tests.core.libraries import both
from tests.transforms.mapping_scenarios import model_of, stacked_model, update
from tests.transforms.modes import all_modes

XS = jnp.arange(12.0).reshape(4, 3)


# -- StateAxes, the object ---------------------------------------------------------------------


@both
def test_state_axes_is_a_mapping_from_filters_to_axes(lib: Any) -> None:
    axes: Any = lib.StateAxes({lib.Param: 0, ...: None})
    assert issubclass(type(axes), Mapping)
    assert (axes.filters, axes.axes) == ((lib.Param, ...), (0, None))
    assert dict(axes) == {lib.Param: 0, ...: None}
    assert (len(axes), list(axes), list(axes.values())) == (2, [lib.Param, ...], [0, None])
    assert (axes[lib.Param], ... in axes) == (0, True)
    assert lib.StateAxes(axes) == axes != {lib.Param: 0, ...: None}
    with pytest.raises(AttributeError):
        axes.axes = (1,)


# -- in_axes -----------------------------------------------------------------------------------


@both
@all_modes
def test_a_shared_variable_may_get_one_value_for_all_lanes(lib, mode):
    model = model_of(lib, calls=lib.BatchStat(jnp.zeros(())))

    def step(model: Any, x: Any) -> Any:
        model.calls[...] += 1
        return x

    lib.vmap(step, in_axes=(None, 0), **mode)(model, XS)
    assert float(model.calls[...]) == 1.0


@both
@all_modes
def test_an_axis_that_is_no_number_is_an_error(lib, mode):
    with pytest.raises(TypeError):
        lib.vmap(update, in_axes="a", **mode)(stacked_model(lib), XS)


@both
@all_modes
def test_an_axis_that_an_array_does_not_have_is_an_error(lib, mode):
    with pytest.raises(ValueError, match="rank"):
        lib.vmap(update, in_axes=(1, 0), **mode)(stacked_model(lib), XS)


# -- StateAxes as a prefix ---------------------------------------------------------------------


@both
def test_state_axes_map_the_variables_of_one_model_differently(lib):
    model = stacked_model(lib)
    axes = lib.StateAxes({lib.PathContains("bias"): None, lib.Param: 0, ...: 0})

    def step(model: Any, x: Any) -> Any:
        model.total[...] += x.sum()
        return model.weight[...] * x + model.inner.bias[0].reshape(1)

    result = lib.vmap(step, in_axes=(axes, 0))(model, XS)
    np.testing.assert_allclose(result, model.weight[...] * XS + 1)
    assert model.total[...].tolist() == XS.sum(1).tolist()


@both
def test_state_axes_of_a_state_name_each_variable(lib):
    model = stacked_model(lib)
    axes = lib.StateAxes(lib.State({"weight": 0, "total": None, "inner": {"bias": None}}))
    result = lib.vmap(lambda m, x: m.weight[...] * x + m.total.sum(), in_axes=(axes, 0))(model, XS)
    assert result.tolist() == (model.weight[...] * XS).tolist()


@both
def test_a_string_filter_is_a_tag_and_not_a_path(lib):
    rngs = lib.Rngs(params=0, dropout=1)
    rngs.params = rngs.params.split(4)
    axes = lib.StateAxes({"params": 0, "dropout": None})
    mapped = lib.vmap(
        lambda r, x: r.params.key[...].ndim + r.dropout.key[...].ndim, in_axes=(axes, 0)
    )
    assert mapped(rngs, XS).tolist() == [0] * 4
    axes = lib.StateAxes({"weight": 0})
    with pytest.raises(ValueError, match="weight"):
        lib.vmap(lambda m: 1.0, in_axes=(axes,))(model_of(lib, weight=lib.Param(XS)))


@both
def test_new_variables_follow_the_filters_of_their_model(lib):
    model = model_of(lib, weight=lib.Param(XS))
    axes = lib.StateAxes({lib.Param: 0, lib.Cache: 1, ...: None})

    def step(model: Any) -> None:
        model.cached = lib.Cache(model.weight[...])
        model.fixed = lib.BatchStat(jnp.ones(2))

    lib.vmap(step, in_axes=(axes,))(model)
    assert model.cached[...].tolist() == XS.T.tolist()
    assert model.fixed[...].tolist() == [1.0, 1.0]


# -- out_axes ----------------------------------------------------------------------------------


@both
@all_modes
def test_a_result_without_axis_must_be_the_same_for_all_lanes(lib, mode):
    made = lib.vmap(lambda x: model_of(lib, weight=lib.Param(jnp.ones(2))), out_axes=None, **mode)(
        XS
    )
    assert made.weight[...].tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="axis spec None|axis None|out_axes"):
        lib.vmap(lambda x: x, out_axes=None, **mode)(XS)
