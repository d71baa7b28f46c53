"""`transform_metadata`: the names of mapped axes in sharding metadata; the laws hold in NNX too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.mapping_scenarios import model_of

KEYS = jnp.zeros((4, 2))
graph_modes = pytest.mark.parametrize("mode", [{}, {"graph": False}], ids=["graph", "tree"])


@pytest.fixture(autouse=True)
def no_placement() -> Iterator[None]:
    """Let Variables have sharding metadata without a mesh."""
    with ExitStack() as stack:
        for lib in (nnx, flax_nnx):
            stack.enter_context(lib.use_eager_sharding(False))
        yield


def create(lib: Any) -> Any:
    return model_of(
        lib,
        weight=lib.Param(jnp.ones((3, 5)), out_sharding=("in", "out")),
        bias=lib.Param(jnp.zeros(5), out_sharding=("out",)),
        plain=lib.BatchStat(jnp.zeros(())),
    )


def names(model: Any) -> Any:
    return tuple(
        variable.get_metadata().get("out_sharding")
        for variable in (model.weight, model.bias, model.plain)
    )


def layers_of(lib: Any, **axes: Any) -> Any:
    """Four models as one, made by a `vmap` that names the axis."""
    options = {lib.PARTITION_NAME: "layers"}
    return lib.vmap(lambda key: create(lib), transform_metadata=options, **axes)(KEYS)


BARE = (("in", "out"), ("out",), None)
STACKED = (("layers", "in", "out"), ("layers", "out"), None)


def test_both_libraries_name_the_option_alike():
    assert nnx.PARTITION_NAME == flax_nnx.PARTITION_NAME == "partition_name"


# -- vmap and scan -----------------------------------------------------------------------------


@both
@pytest.mark.parametrize("transform", ["vmap", "scan"])
def test_a_variable_taken_off_inside_keeps_the_name_of_the_axis(lib, transform):
    model = layers_of(lib)
    taken = model.weight

    def step(layer):
        del layer.weight

    options = {"transform_metadata": {lib.PARTITION_NAME: "layers"}, "in_axes": 0}
    if transform == "scan":
        lib.scan(lambda x, layer: (x, step(layer)), **options | {"in_axes": (lib.Carry, 0)})(
            0.0, model
        )
    else:
        lib.vmap(step, **options)(model)
    assert not hasattr(model, "weight")
    assert taken.get_metadata()["out_sharding"] == ("layers", "in", "out")


@both
def test_the_name_may_be_none(lib):
    options = {lib.PARTITION_NAME: None}
    model = lib.vmap(lambda key: create(lib), transform_metadata=options)(KEYS)
    assert names(model) == ((None, "in", "out"), (None, "out"), None)


@both
def test_the_name_goes_to_the_place_of_the_axis(lib):
    model = layers_of(lib, out_axes=lib.StateAxes({lib.Param: 1, ...: 0}))
    assert names(model) == (("in", "layers", "out"), ("out", "layers"), None)


@both
def test_what_has_no_axis_gets_no_name(lib):
    assert names(layers_of(lib, out_axes=None)) == BARE
    axes = lib.StateAxes({lib.PathContains("weight"): 0, ...: None})
    assert names(layers_of(lib, out_axes=axes)) == (("layers", "in", "out"), ("out",), None)


@both
@pytest.mark.parametrize("transform", ["vmap", "scan", "pmap"])
def test_inside_the_name_is_gone_and_outside_it_is_back(lib, transform):
    options = {"transform_metadata": {lib.PARTITION_NAME: "layers"}, "in_axes": 0, "out_axes": 0}
    lanes = 1 if transform == "pmap" else 4
    model = getattr(lib, transform)(lambda key: create(lib), **options)(KEYS[:lanes])
    assert names(model) == STACKED
    inside: list[Any] = []

    def step(model: Any) -> None:
        model.plain[...] += 1
        inside.append(names(model))

    getattr(lib, transform)(step, **options)(model)
    assert set(inside) == {BARE}
    assert names(model) == STACKED
    assert model.plain[...].tolist() == [1.0] * lanes


@both
def test_without_axis_or_option_the_name_is_there_inside_too(lib):
    inside: list[Any] = []
    for axis, options in ((None, {lib.PARTITION_NAME: "layers"}), (0, {})):
        model = layers_of(lib)
        lib.vmap(
            lambda model, key: inside.append(names(model)),
            in_axes=(axis, 0),
            transform_metadata=options,
        )(model, KEYS)
        assert names(model) == STACKED
    assert len(inside) >= 2
    assert set(inside) == {STACKED}


@pytest.mark.thorough
@both
def test_another_name_than_the_one_outside_is_an_error(lib):
    model = layers_of(lib)
    with pytest.raises(ValueError, match="rows"):
        lib.vmap(lambda model: None, transform_metadata={lib.PARTITION_NAME: "rows"})(model)
    assert names(model) == STACKED


@both
def test_new_variables_of_an_argument_get_the_name(lib):
    model = layers_of(lib)

    def step(model: Any) -> None:
        model.extra = lib.Param(jnp.ones(2), out_sharding=("in",))

    lib.vmap(step, transform_metadata={lib.PARTITION_NAME: "layers"})(model)
    assert model.extra.get_metadata("out_sharding") == ("layers", "in")


@both
@pytest.mark.filterwarnings("ignore:Variable hooks are deprecated")
def test_hooks_hear_of_the_axis(lib):
    heard: list[Any] = []

    def hook(what: str) -> Any:
        return lambda variable, index, name: heard.append((what, index, name))

    def made(key: Any) -> Any:
        hooks = {"on_add_axis": hook("add"), "on_remove_axis": hook("remove")}
        return model_of(lib, weight=lib.Param(jnp.ones(3), **hooks))

    options = {lib.PARTITION_NAME: "layers"}
    model = lib.vmap(made, transform_metadata=options)(KEYS)
    assert heard == [("add", 0, "layers")]
    heard.clear()
    lib.vmap(lambda model: None, transform_metadata=options)(model)
    assert heard == [
        ("remove", 0, "layers"),
        ("add", 0, "layers"),
    ]


@both
def test_scan_leaves_what_is_carried(lib):
    model = create(lib)
    options = {lib.PARTITION_NAME: "layers"}
    lib.scan(lambda model, key: (model, None), transform_metadata=options)(model, KEYS)
    assert names(model) == BARE


# -- the function ------------------------------------------------------------------------------


@both
@graph_modes
def test_inside_a_vmap_the_function_does_what_the_option_does(lib, mode):
    made = lib.vmap(
        lib.transform_metadata(lambda key: create(lib), partition="layers", **mode), **mode
    )(KEYS)
    assert names(made) == STACKED
    inside: list[Any] = []

    @lib.vmap(in_axes=(0, 0), **mode)
    @lib.transform_metadata(in_axes=(0, 0), partition="layers", **mode)
    def step(model: Any, key: Any) -> Any:
        inside.append(names(model))
        model.plain[...] += 1
        return key

    step(made, KEYS)
    assert set(inside) == {BARE}
    assert names(made) == STACKED
    assert made.plain[...].tolist() == [1.0] * 4


@both
@graph_modes
def test_alone_the_function_changes_names_and_no_values(lib, mode):
    named = lib.transform_metadata(lambda key: create(lib), partition="layers", **mode)(0)
    assert names(named) == STACKED
    assert named.weight.shape == (3, 5)
    inside = lib.transform_metadata(names, partition="layers", **mode)(named)
    assert inside == BARE
    assert names(named) == STACKED


@both
@graph_modes
def test_arguments_without_axis_keep_their_names(lib, mode):
    model, other = (
        lib.transform_metadata(lambda key: create(lib), partition="layers", **mode)(0)
        for _ in range(2)
    )
    inside = lib.transform_metadata(
        lambda one, two, three: (names(one), names(two)),
        in_axes=(0, None, None),
        partition="layers",
        **mode,
    )(model, other, 1)
    assert inside == (BARE, STACKED)


@both
@graph_modes
def test_a_bare_variable_has_names_too(lib, mode):
    variable = lib.Param(jnp.ones((2, 3)), out_sharding=("layers", "out"))
    inside = lib.transform_metadata(
        lambda variable: variable.get_metadata("out_sharding"), partition="layers", **mode
    )(variable)
    assert inside == ("out",)
    assert variable.get_metadata("out_sharding") == ("layers", "out")


@both
def test_the_name_must_be_given_and_may_be_none(lib):
    with pytest.raises(TypeError, match="partition"):
        lib.transform_metadata(lambda key: key)
    named = lib.transform_metadata(lambda key: create(lib), partition=None)(0)
    assert names(named) == ((None, "in", "out"), (None, "out"), None)


@pytest.mark.thorough
@both
@graph_modes
def test_the_function_too_refuses_another_name(lib, mode):
    model = create(lib)
    with pytest.raises(ValueError, match="layers"):
        lib.transform_metadata(lambda model: None, partition="layers", **mode)(model)


# -- ours --------------------------------------------------------------------------------------


def test_a_negative_axis_counts_from_the_end():
    """flax puts the name one place too early."""
    model = layers_of(nnx, out_axes=-1)
    assert model.weight.shape == (3, 5, 4)
    assert names(model) == (("in", "out", "layers"), ("out", "layers"), None)


def test_a_negative_axis_counts_the_axes_that_have_no_name():
    def made(key: Any) -> Any:
        return nnx.Param(jnp.ones((3, 5)), out_sharding=("in",))

    options = {nnx.PARTITION_NAME: "layers"}
    weight = nnx.vmap(made, out_axes=-1, transform_metadata=options)(KEYS)
    assert weight.shape == (3, 5, 4)
    assert weight.get_metadata("out_sharding") == ("in", None, "layers")
    inside: list[Any] = []
    nnx.vmap(
        lambda weight: inside.append(weight.get_metadata("out_sharding")),
        in_axes=-1,
        transform_metadata=options,
    )(weight)
    assert inside == [("in", None)]
    assert weight.get_metadata("out_sharding") == ("in", None, "layers")


@graph_modes
def test_arguments_given_by_name_have_axes_in_their_position(mode):
    one, two = (nnx.transform_metadata(lambda: create(nnx), partition="layers")() for _ in "ab")
    inside = nnx.transform_metadata(
        lambda one, two: (names(one), names(two)), in_axes=(0, None), partition="layers", **mode
    )(one, two=two)
    assert inside == (BARE, STACKED)


def test_a_jitted_step_leaves_the_names():
    model = layers_of(nnx)
    mapped = nnx.vmap(lambda m: m.plain[...] + 1, transform_metadata={nnx.PARTITION_NAME: "layers"})
    assert jax.device_get(nnx.jit(mapped)(model)).tolist() == [1.0] * 4
    assert names(model) == STACKED
