"""`in_axes` and `out_axes` of `vmap`, `StateAxes` and `prefix`; the laws hold in NNX too."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.core.libraries import both, said
from tests.transforms.mapping_scenarios import (
    all_modes,
    fixed_modes,
    model_of,
    stacked_model,
    update,
    values,
)

XS = jnp.arange(12.0).reshape(4, 3)


def read(model: Any, x: Any) -> Any:
    """Read the Variables of a lane, write none."""
    return model.weight[...] * x + model.total[...].reshape(1)


# -- StateAxes, the object ---------------------------------------------------------------------


@both
def test_state_axes_is_a_mapping_from_filters_to_axes(lib: Any) -> None:
    axes: Any = lib.StateAxes({lib.Param: 0, ...: None})
    assert issubclass(type(axes), Mapping)
    assert (axes.filters, axes.axes) == ((lib.Param, ...), (0, None))
    assert dict(axes) == {lib.Param: 0, ...: None}
    assert (len(axes), list(axes), list(axes.values())) == (2, [lib.Param, ...], [0, None])
    assert (axes[lib.Param], ... in axes) == (0, True)
    assert repr(axes) == f"StateAxes({{{lib.Param!r}: 0, Ellipsis: None}})"


@both
def test_state_axes_is_made_of_a_mapping_or_pairs(lib):
    axes = lib.StateAxes({lib.Param: 0, ...: None})
    assert lib.StateAxes([(lib.Param, 0), (..., None)]) == axes
    assert lib.StateAxes(axes) == axes


@both
def test_state_axes_compare_by_their_filters_and_axes_in_order(lib):
    axes = lib.StateAxes({lib.Param: 0, ...: None})
    same = lib.StateAxes({lib.Param: 0, ...: None})
    assert axes == same
    assert hash(axes) == hash(same)
    assert copy.deepcopy(axes) == axes
    assert axes != lib.StateAxes({lib.Param: 1, ...: None})
    assert axes != lib.StateAxes({...: None, lib.Param: 0})
    assert axes != lib.StateSharding({lib.Param: 0, ...: None})
    assert axes != {lib.Param: 0, ...: None}


@both
def test_state_axes_cannot_be_changed_and_are_leaves_to_jax(lib):
    axes = lib.StateAxes({lib.Param: 0})
    with pytest.raises(AttributeError):
        axes.axes = (1,)
    assert jax.tree.leaves([axes]) == [axes]


# -- in_axes -----------------------------------------------------------------------------------


@both
@all_modes
@pytest.mark.parametrize("axis", [1, -1], ids=str)
def test_other_axes_map_and_write_back_along_themselves(lib, mode, axis):
    model = model_of(lib, weight=lib.Param(XS.T))

    def step(model: Any, x: Any) -> Any:
        model.weight[...] += x
        return model.weight[...] * 2

    result = lib.vmap(step, in_axes=(axis, 0), **mode)(model, XS)
    assert model.weight[...].tolist() == (XS.T * 2).tolist()
    assert result.tolist() == (XS * 4).tolist()


@both
@all_modes
def test_an_argument_without_axis_is_the_same_for_all_lanes(lib, mode):
    model = model_of(lib, weight=lib.Param(jnp.arange(3.0)), total=lib.BatchStat(jnp.ones(())))
    before = values(model)
    result = lib.vmap(read, in_axes=(None, 0), **mode)(model, XS)
    assert result.tolist() == (XS * jnp.arange(3.0).reshape(1, 3) + 1).tolist()
    assert values(model) == before


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
@pytest.mark.parametrize("in_axes", [(0,), (0, 0, 0), ({"a": 0}, 0)], ids=str)
def test_axes_that_do_not_fit_the_arguments_are_an_error(lib, mode, in_axes):
    with pytest.raises(ValueError, match=said(lib, "in_axes|structure")):
        lib.vmap(update, in_axes=in_axes, **mode)(stacked_model(lib), XS)


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
def test_the_first_filter_that_matches_gives_the_axis(lib):
    model = model_of(lib, weight=lib.Param(XS.T), other=lib.Param(XS))
    axes = lib.StateAxes([(lib.PathContains("weight"), -1), (lib.Param, 0)])
    result = lib.vmap(lambda m: m.weight[...] - m.other[...], in_axes=(axes,))(model)
    assert result.tolist() == np.zeros((4, 3)).tolist()


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


@both
def test_one_variable_under_two_state_axes_is_an_error(lib):
    model = stacked_model(lib)
    one, two = lib.StateAxes({...: 0}), lib.StateAxes({lib.Param: None, ...: 0})
    with pytest.raises(ValueError, match="Inconsistent aliasing"):
        lib.vmap(lambda a, b: 1.0, in_axes=(one, two))(model, model)
    same = lib.StateAxes({lib.Param: 0, ...: 0})
    assert lib.vmap(lambda a, b: 1.0, in_axes=(one, same))(model, model).tolist() == [1.0] * 4


# -- prefix, without graph updates -------------------------------------------------------------


@both
@fixed_modes
def test_a_prefix_maps_the_variables_of_one_model_differently(lib, mode):
    model = model_of(lib, weight=lib.Param(XS), total=lib.BatchStat(jnp.ones(())))
    graph = mode.get("graph", True)
    axes = lib.prefix(model, {lib.Param: 0, ...: None}, graph=graph)

    def step(model: Any, x: Any) -> Any:
        model.weight[...] *= 2
        return read(model, x)

    result = lib.vmap(step, in_axes=(axes, 0), **mode)(model, XS)
    assert result.tolist() == (XS * XS * 2 + 1).tolist()
    assert model.weight[...].tolist() == (XS * 2).tolist()


@both
@fixed_modes
def test_a_prefix_places_the_axes_of_what_comes_out(lib: Any, mode: Any) -> None:
    class Pair(lib.Module):
        def __init__(self, x: Any) -> None:
            self.weight = lib.Param(x)
            self.total = lib.BatchStat(x)

    axes = lib.prefix(Pair(XS[0]), {lib.Param: 1, ...: 0}, graph=mode.get("graph", True))
    made = lib.vmap(Pair, out_axes=axes, **mode)(XS)
    assert made.weight[...].tolist() == XS.T.tolist()
    assert made.total[...].tolist() == XS.tolist()


# -- out_axes ----------------------------------------------------------------------------------


@both
@all_modes
@pytest.mark.parametrize("axis", [1, -1], ids=str)
def test_out_axes_place_the_lanes(lib, mode, axis):
    def step(x: Any) -> Any:
        return {"array": x, "model": model_of(lib, weight=lib.Param(x))}

    result = lib.vmap(step, out_axes=axis, **mode)(XS)
    assert result["array"].tolist() == XS.T.tolist()
    assert result["model"].weight[...].tolist() == XS.T.tolist()


@both
@all_modes
def test_a_result_without_axis_must_be_the_same_for_all_lanes(lib, mode):
    made = lib.vmap(lambda x: model_of(lib, weight=lib.Param(jnp.ones(2))), out_axes=None, **mode)(
        XS
    )
    assert made.weight[...].tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="axis spec None|axis None|out_axes"):
        lib.vmap(lambda x: x, out_axes=None, **mode)(XS)


@both
@all_modes
def test_a_constant_result_is_repeated_along_its_axis(lib, mode):
    assert lib.vmap(lambda x: 3.0, **mode)(XS).tolist() == [3.0] * 4
    assert lib.vmap(lambda x: None, **mode)(XS) is None


@both
def test_state_axes_place_the_variables_of_a_new_model(lib):
    def create(x: Any) -> Any:
        return (
            model_of(lib, weight=lib.Param(x), total=lib.BatchStat(x), size=lib.Cache(jnp.ones(2))),
            x,
        )

    axes = lib.StateAxes({lib.Param: 1, lib.BatchStat: 0, ...: None})
    made, xs = lib.vmap(create, out_axes=(axes, 0))(XS)
    assert made.weight[...].tolist() == XS.T.tolist()
    assert made.total[...].tolist() == xs.tolist() == XS.tolist()
    assert made.size[...].tolist() == [1.0, 1.0]
