"""`vmap` and the structure of objects: changes, sharing, errors, closures."""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.mapping_scenarios import (
    MODES,
    all_modes,
    fixed_modes,
    model_of,
    stacked_model,
    update,
    values,
)

XS = jnp.arange(12.0).reshape(4, 3)


# -- structure ---------------------------------------------------------------------------------


@both
def test_structure_made_inside_comes_back(lib):
    model = stacked_model(lib)

    def step(model: Any, x: Any) -> None:
        model.extra = lib.Cache(x.sum())
        model.part = model_of(lib, weight=lib.Param(x * 3))
        model.kind = "b"
        del model.inner

    lib.vmap(step)(model, XS)
    assert (type(model.extra), model.extra[...].tolist()) == (lib.Cache, XS.sum(1).tolist())
    assert model.part.weight[...].tolist() == (XS * 3).tolist()
    assert model.kind == "b"
    assert not hasattr(model, "inner")


@both
def test_a_variable_replaced_inside_is_replaced_outside(lib):
    model = stacked_model(lib)
    old, weight = model.total, model.weight

    def step(model: Any, x: Any) -> None:
        model.total = lib.Cache(x.sum())

    lib.vmap(step)(model, XS)
    assert (type(model.total), model.total[...].tolist()) == (lib.Cache, XS.sum(1).tolist())
    assert model.total is not old
    assert model.weight is weight


@both
@pytest.mark.filterwarnings("ignore:Using 'Module.sow")
def test_what_is_sown_comes_out_stacked(lib):
    model = stacked_model(lib)
    lib.vmap(lambda model, x: model.sow(lib.Intermediate, "seen", x))(model, XS)
    assert [array.tolist() for array in model.seen.get_value()] == [XS.tolist()]


@both
def test_a_plain_array_of_a_model_is_mapped_and_comes_back(lib):
    model = stacked_model(lib)
    model.plain = jnp.zeros(4)

    def step(model: Any, x: Any) -> None:
        model.plain = model.plain + x.sum()

    lib.vmap(step)(model, XS)
    assert model.plain.tolist() == XS.sum(1).tolist()


@both
def test_the_argument_returned_is_the_object_itself(lib):
    model = stacked_model(lib)
    inner = model.inner
    first, (second, part) = lib.vmap(lambda model: (model, [model, model.inner]))(model)
    assert first is second is model
    assert part is inner


@both
@pytest.mark.parametrize("mode", [MODES["updates"], MODES["no_updates"]], ids=str)
def test_models_shared_in_the_result_stay_shared(lib, mode):
    def step(x: Any) -> Any:
        made = model_of(lib, weight=lib.Param(x))
        return made, {"again": made}

    one, two = lib.vmap(step, **mode)(XS)
    assert one.weight is two["again"].weight
    assert one.weight[...].tolist() == XS.tolist()


@both
@pytest.mark.parametrize("mode", [MODES["updates"], MODES["no_updates"]], ids=str)
def test_an_argument_given_twice_is_one_object_inside(lib, mode):
    model = stacked_model(lib)

    def step(first: Any, second: Any, x: Any) -> Any:
        first.total[...] += x.sum()
        second.total[...] += 1
        assert first.total is second.total
        return x

    lib.vmap(step, **mode)(model, model, XS)
    assert model.total[...].tolist() == (XS.sum(1) + 1).tolist()


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
def test_one_object_under_two_axes_is_an_error(lib):
    model = stacked_model(lib)
    with pytest.raises(ValueError, match="Inconsistent aliasing"):
        lib.vmap(lambda one, two: 1.0, in_axes=(0, None))(model, model)
    other = model_of(lib, weight=model.weight)
    with pytest.raises(ValueError, match="Inconsistent aliasing"):
        lib.vmap(lambda one, two: 1.0, in_axes=(0, None))(model, other)
    with pytest.raises(ValueError, match="Inconsistent aliasing"):
        lib.vmap(lambda model: model, out_axes=1)(model)


@both
def test_one_new_object_under_two_out_axes_is_an_error(lib):
    def step(x: Any) -> Any:
        made = model_of(lib, weight=lib.Param(x))
        return made, made

    with pytest.raises(ValueError, match="Inconsistent aliasing"):
        lib.vmap(step, out_axes=(0, 1))(XS)


@both
def test_tree_mode_refuses_an_argument_given_twice(lib):
    model = stacked_model(lib)
    with pytest.raises(ValueError, match="Duplicate"):
        lib.vmap(lambda one, two: 1.0, graph=False)(model, model)


@both
@all_modes
def test_after_an_exception_the_model_is_as_before(lib, mode):
    model = stacked_model(lib)
    before, weight = values(model), model.weight

    def step(model: Any, x: Any) -> None:
        model.total[...] += x.sum()
        model.extra = lib.Param(x)
        model.kind = "b"
        del model.inner
        raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        lib.vmap(step, **mode)(model, XS)
    assert values(model) == before
    assert (model.kind, hasattr(model, "extra"), model.weight is weight) == ("a", False, True)
    model.total[...] += 1  # and it can still be changed


# -- ours --------------------------------------------------------------------------------------


def test_conflicting_axes_name_both_paths():
    model = stacked_model(nnx)
    other = model_of(nnx, tied=model.weight)
    with pytest.raises(nnx.errors.PrefixConflictError) as caught:
        nnx.vmap(lambda one, two: 1.0, in_axes=(0, None))(model, other)
    assert "weight" in str(caught.value)
    assert "tied" in str(caught.value)


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
def test_a_captured_model_is_broadcast_and_written_back(mode):
    model = model_of(nnx, weight=nnx.Param(jnp.full(3, 2.0)), calls=nnx.BatchStat(jnp.zeros(())))

    def step(x: Any) -> Any:
        model.calls[...] += 1
        return model.weight[...] * x

    mapped = nnx.vmap(step, **mode)
    assert mapped(XS).tolist() == (XS * 2).tolist()
    model.weight[...] = jnp.full(3, 5.0)
    assert mapped(XS).tolist() == (XS * 5).tolist()
    assert float(model.calls[...]) == 2.0


@all_modes
def test_a_captured_model_with_a_value_per_lane_names_the_path(mode):
    model = model_of(nnx, running_total=nnx.BatchStat(jnp.zeros(())))

    def step(x: Any) -> None:
        model.running_total[...] += x.sum()

    with pytest.raises(nnx.errors.BroadcastChangedError, match="running_total"):
        nnx.vmap(step, **mode)(XS)
    assert float(model.running_total[...]) == 0.0


def test_a_captured_model_that_is_an_argument_too_is_one_object_with_its_axis():
    model = stacked_model(nnx)

    def step(given: Any, x: Any) -> Any:
        assert given.total is model.total
        model.total[...] += x.sum()
        return given.total[...]

    assert nnx.vmap(step)(model, XS).tolist() == XS.sum(1).tolist()
    assert model.total[...].tolist() == XS.sum(1).tolist()


@all_modes
def test_a_bound_method_broadcasts_its_object(mode):
    class Model(nnx.Module):
        def __init__(self) -> None:
            self.calls = nnx.BatchStat(jnp.zeros(()))

        def step(self, x: Any) -> Any:
            self.calls[...] += 1
            return x + self.calls[...].reshape(1)

    model = Model()
    assert nnx.vmap(model.step, **mode)(XS).tolist() == (XS + 1).tolist()
    assert float(model.calls[...]) == 1.0


@all_modes
def test_a_partial_broadcasts_its_model_and_writes_it_back(mode):
    model = model_of(nnx, calls=nnx.BatchStat(jnp.zeros(())))

    def step(model: Any, x: Any) -> Any:
        model.calls[...] += 1
        return x

    nnx.vmap(functools.partial(step, model), **mode)(XS)
    assert float(model.calls[...]) == 1.0


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


def test_without_a_matching_filter_the_error_names_every_path():
    axes = nnx.StateAxes({nnx.BatchStat: 0})
    with pytest.raises(nnx.errors.NoFilterMatchedError) as caught:
        nnx.vmap(update, in_axes=(axes, 0))(stacked_model(nnx), XS)
    assert "weight" in str(caught.value) or "bias" in str(caught.value)
