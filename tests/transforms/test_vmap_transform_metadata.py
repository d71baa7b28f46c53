"""`transform_metadata`: the names of mapped axes in sharding metadata are those that flax gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.transforms.as_in_flax import Call, assert_as_in_flax
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
        getattr(model, name).get_metadata().get("out_sharding")
        for name in ("weight", "bias", "plain")
        if hasattr(model, name)
    )


def layers_of(lib: Any, **axes: Any) -> Any:
    """Four models as one, made by a `vmap` that names the axis."""
    options = {lib.PARTITION_NAME: "layers"}
    return lib.vmap(lambda key: create(lib), transform_metadata=options, **axes)(KEYS)


BARE = (("in", "out"), ("out",), None)
STACKED = (("layers", "in", "out"), ("layers", "out"), None)


def test_both_libraries_name_the_option_alike():
    assert nnx.PARTITION_NAME == flax_nnx.PARTITION_NAME == "partition_name"


# -- vmap, scan and pmap ---------------------------------------------------------------------------


def made(
    transform: str = "vmap", name: str | None = "layers", **axes: Any
) -> Callable[[Any], Call]:
    """Make models by a transform that names its axis."""

    def make(lib: Any) -> Call:
        given = {key: axis(lib) if callable(axis) else axis for key, axis in axes.items()}
        options = {"in_axes": 0, "out_axes": 0, "transform_metadata": {lib.PARTITION_NAME: name}}
        run = getattr(lib, transform)(lambda key: create(lib), **options | given)
        return Call(run, (KEYS[:1] if transform == "pmap" else KEYS,))

    return make


def changed(
    transform: str, step: Callable[[Any, Any], Any], **options: Any
) -> Callable[[Any], Call]:
    """Change layers under a transform; return the names that were seen inside, too."""

    def make(lib: Any) -> Call:
        layers = made(transform)(lib)
        model = layers.function(*layers.arguments)

        def run(model: Any, weight: Any) -> Any:
            inside: list[Any] = []

            def watched(layer: Any) -> Any:
                inside.append(str(names(layer)))
                return step(lib, layer)

            named = {"transform_metadata": {lib.PARTITION_NAME: "layers"}}
            given = {"in_axes": 0, "out_axes": 0, **named, **options}
            return getattr(lib, transform)(watched, **given)(model), sorted(set(inside))

        return Call(run, (model, model.weight))

    return make


def adds(lib: Any, layer: Any) -> None:
    layer.plain[...] += 1


def takes_off(lib: Any, layer: Any) -> None:
    del layer.weight


def attaches(lib: Any, layer: Any) -> None:
    layer.extra = lib.Param(jnp.ones(2), out_sharding=("in",))


def with_hooks(lib: Any) -> Call:
    def run(keys: Any) -> Any:
        heard: list[Any] = []

        def hook(what: str) -> Any:
            return lambda variable, index, name: heard.append((what, index, name))

        def layer(key: Any) -> Any:
            hooks = {"on_add_axis": hook("add"), "on_remove_axis": hook("remove")}
            return model_of(lib, weight=lib.Param(jnp.ones(3), **hooks))

        options = {lib.PARTITION_NAME: "layers"}
        model = lib.vmap(layer, transform_metadata=options)(keys)
        lib.vmap(lambda model: None, transform_metadata=options)(model)
        return heard

    return Call(run, (KEYS,))


def carried(lib: Any) -> Call:
    options = {lib.PARTITION_NAME: "layers"}
    scanned = lib.scan(lambda model, key: (model, None), transform_metadata=options)
    return Call(scanned, (create(lib), KEYS))


CALLS: dict[str, Callable[[Any], Call]] = {
    **{f"made by {transform}": made(transform) for transform in ("vmap", "scan", "pmap")},
    "no name": made(name=None),
    "another place": made(out_axes=lambda lib: lib.StateAxes({lib.Param: 1, ...: 0})),
    "no axis": made(out_axes=None),
    "an axis for some": made(
        out_axes=lambda lib: lib.StateAxes({lib.PathContains("weight"): 0, ...: None})
    ),
    **{
        f"{step.__name__} under {transform}": changed(transform, step)
        for step in (adds, takes_off, attaches)
        for transform in ("vmap", "scan", "pmap")
    },
    "no axis inside": changed("vmap", lambda lib, layer: None, in_axes=None, axis_size=4),
    "no option inside": changed("vmap", adds, transform_metadata={}),
    "another name inside": changed("vmap", adds, transform_metadata={nnx.PARTITION_NAME: "rows"}),
    "hooks": with_hooks,
    "carried by scan": carried,
}


@pytest.mark.filterwarnings("ignore:Variable hooks are deprecated")
@pytest.mark.parametrize("name", CALLS)
def test_axes_have_the_names_that_they_have_in_flax(name):
    assert_as_in_flax(CALLS[name])


# -- the function ------------------------------------------------------------------------------


def named(lib: Any, **mode: Any) -> Any:
    return lib.transform_metadata(lambda key: create(lib), partition="layers", **mode)(0)


def in_vmap(lib: Any, mode: Any) -> Call:
    def run(keys: Any) -> Any:
        inside: list[Any] = []
        create_named = lib.transform_metadata(lambda key: create(lib), partition="layers", **mode)
        model = lib.vmap(create_named, **mode)(keys)

        @lib.vmap(in_axes=(0, 0), **mode)
        @lib.transform_metadata(in_axes=(0, 0), partition="layers", **mode)
        def step(model: Any, key: Any) -> Any:
            inside.append(str(names(model)))
            model.plain[...] += 1
            return key

        return step(model, keys), model, sorted(set(inside))

    return Call(run, (KEYS,))


def alone(function: Any, *arguments: Any, **options: Any) -> Callable[[Any, Any], Call]:
    def make(lib: Any, mode: Any) -> Call:
        given = {"partition": "layers", **options, **mode}
        run = lib.transform_metadata(lambda *args: function(lib, *args), **given)
        return Call(run, tuple(argument(lib) for argument in arguments))

    return make


def bare(lib: Any) -> Any:
    return lib.Param(jnp.ones((2, 3)), out_sharding=("layers", "out"))


FUNCTIONS: dict[str, Callable[[Any, Any], Call]] = {
    "in a vmap": in_vmap,
    "a new model": alone(create),
    "a new model without a name": alone(create, partition=None),
    "an argument": alone(lambda lib, model: names(model), named),
    "arguments without axis": alone(
        lambda lib, one, two: (names(one), names(two)), named, named, in_axes=(0, None)
    ),
    "a Variable": alone(
        lambda lib, variable: variable.set_metadata(seen=variable.out_sharding), bare
    ),
    "another name": alone(lambda lib, model: None, create),
}


@graph_modes
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_function_gives_the_names_of_flax(mode, name):
    assert_as_in_flax(lambda lib: FUNCTIONS[name](lib, mode))


def test_the_name_must_be_given():
    without: Any = nnx.transform_metadata
    with pytest.raises(TypeError, match="partition"):
        without(lambda key: key)


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
