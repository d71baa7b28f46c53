"""`scan` over objects: it is the loop over the steps; the laws hold in NNX too."""

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
    model_of,
    scan_by_loop,
    stacked_model,
    values,
)

XS = jnp.arange(4.0)


def apply_layer(layer: Any, carry: Any) -> Any:
    """Read and write every Variable of a layer; float carry [3] -> float [3]."""
    layer.total[...] += carry.sum()
    layer.inner.bias[...] *= 2.0
    return carry * 0.5 + layer.weight[...] + layer.inner.bias[...].reshape(1)


def count_step(model: Any, x: Any) -> Any:
    """Add to the count of a carried model."""
    model.count[...] += x
    return model, x * 10


# -- stacked layers ----------------------------------------------------------------------------


@both
@all_modes
@pytest.mark.parametrize(
    "options", [{}, {"reverse": True}, {"unroll": 2}, {"unroll": True}], ids=str
)
def test_stacked_layers_give_what_the_loop_gives(lib, mode, options):
    layers, start = stacked_model(lib), jnp.ones(3)
    variables = (layers.weight, layers.total, layers.inner)
    expected, left = scan_by_loop(
        apply_layer, stacked_model(lib), start, reverse=options.get("reverse", False)
    )
    scanned = lib.scan(apply_layer, in_axes=(0, lib.Carry), out_axes=lib.Carry, **options, **mode)
    np.testing.assert_allclose(scanned(layers, start), expected)
    assert values(layers) == values(left)
    after = (layers.weight, layers.total, layers.inner)
    assert all(one is other for one, other in zip(variables, after, strict=True))


@both
def test_a_method_scans_over_its_own_layers(lib: Any) -> None:
    class Stack(lib.Module):
        def __init__(self) -> None:
            self.weight = lib.Param(jnp.arange(3.0))
            self.seen = lib.BatchStat(jnp.zeros(3))

        @lib.scan(in_axes=(0, lib.Carry), out_axes=lib.Carry)
        def __call__(self, x: Any) -> Any:
            self.seen[...] = x
            return x + self.weight[...]

    stack = Stack()
    assert float(stack(1.0)) == 4.0
    assert stack.seen[...].tolist() == [1.0, 1.0, 2.0]


@both
@all_modes
def test_new_models_come_out_stacked(lib, mode):
    def step(carry: Any, x: Any) -> Any:
        return carry + x, model_of(lib, weight=lib.Param(x + carry), kind="made")

    carry, made = lib.scan(step, **mode)(0.0, XS)
    assert (float(carry), type(made.weight), made.kind) == (6.0, lib.Param, "made")
    assert made.weight[...].tolist() == [0.0, 1.0, 3.0, 6.0]


# -- carried models ----------------------------------------------------------------------------


@both
@all_modes
def test_random_numbers_of_split_streams_are_those_of_the_loop(lib, mode):
    rngs = lib.Rngs(params=0).split(3)
    keys = rngs.params.key[...]
    scanned = lib.scan(lambda rngs: rngs.params.normal(()), in_axes=0, out_axes=0, **mode)
    expected = [float(jax.random.normal(jax.random.fold_in(key, 0), ())) for key in keys]
    assert scanned(rngs).tolist() == expected
    assert rngs.params.count[...].tolist() == [1] * 3


# -- structure ---------------------------------------------------------------------------------


@both
def test_the_structure_of_layers_may_change(lib):
    layers = stacked_model(lib)

    def step(carry: Any, layer: Any) -> Any:
        layer.extra = lib.Cache(layer.weight[...] * 2)
        layer.weight = lib.Param(layer.weight[...] + 1)
        layer.kind = "b"
        del layer.inner
        return carry, None

    lib.scan(step)(0.0, layers)
    before = np.arange(12.0).reshape(4, 3)
    assert layers.extra[...].tolist() == (before * 2).tolist()
    assert layers.weight[...].tolist() == (before + 1).tolist()
    assert (layers.kind, hasattr(layers, "inner")) == ("b", False)


# -- nesting and calling ------------------------------------------------------------------------


@both
@all_modes
def test_models_can_be_called_and_functions_keep_their_names(lib: Any, mode: Any):
    class Model(lib.Module):
        def __call__(self, carry: Any, x: Any) -> Any:
            return carry + x, carry

    assert float(lib.scan(Model(), **mode)(0.0, XS)[0]) == 6.0
    part = functools.partial(lambda scale, carry, x: (carry + scale * x, carry), 2.0)
    assert float(lib.scan(part, **mode)(0.0, XS)[0]) == 12.0
    scanned = lib.scan(count_step, **mode)
    assert (scanned.__name__, scanned.__wrapped__) == ("count_step", count_step)


@both
def test_scan_leaks_no_tracer(lib: Any) -> None:
    def total(x: Any) -> Any:
        scanned = lib.scan(
            lambda carry, y: (carry + y, carry), in_axes=(lib.Carry, 0), out_axes=(lib.Carry, 0)
        )
        return scanned(x[0], x)[0]

    with jax.checking_leaks():
        assert jax.jit(total)(jnp.ones(3)) == 4


# -- errors ----------------------------------------------------------------------------------------


def counter(lib: Any) -> Any:
    return model_of(lib, count=lib.BatchStat(jnp.zeros(())), kind="a")


@both
@all_modes
@pytest.mark.parametrize("change", ["shape", "dtype"])
def test_a_carried_variable_of_another_shape_or_dtype_is_an_error(lib, mode, change):
    def step(model: Any, x: Any) -> Any:
        value = jnp.zeros(3) if change == "shape" else jnp.zeros((), jnp.int32)
        model.count.set_value(value)
        return model, x

    model = counter(lib)
    with pytest.raises((TypeError, ValueError), match="count"):
        lib.scan(step, **mode)(model, XS)
    assert float(model.count[...]) == 0.0


@both
@pytest.mark.parametrize("change", ["add", "delete", "metadata"])
def test_a_carried_model_of_another_structure_is_an_error(lib, change):
    def step(model: Any, x: Any) -> Any:
        if change == "add":
            model.count_two = lib.Param(x)
        elif change == "metadata":
            model.count.set_metadata(tag="other")
        else:
            del model.count
        return model, x

    model = counter(lib)
    before = values(model)
    with pytest.raises((TypeError, ValueError), match="count"):
        lib.scan(step)(model, XS)
    assert values(model) == before


@both
@all_modes
def test_another_model_in_the_place_of_the_carried_one_is_an_error(lib: Any, mode: Any):
    class Model(lib.Module):
        def __init__(self, count: Any) -> None:
            self.count = lib.BatchStat(count)

    def swap(carry: Any, x: Any) -> Any:
        return (carry[1], carry[0]), x

    def step(model: Any, x: Any) -> Any:
        return Model(model.count[...] + x), x

    with pytest.raises(ValueError, match="identity|same"):
        lib.scan(step, **mode)(Model(jnp.zeros(())), XS)
    with pytest.raises(ValueError, match="identity|same"):
        lib.scan(swap, **mode)((Model(jnp.zeros(())), Model(jnp.zeros(()))), XS)


@pytest.mark.parametrize("parameters", [{}, {"w": 1.0}], ids=["no leaf", "a leaf"])
def test_a_reference_or_an_empty_module_added_to_what_is_carried_is_an_error(
    parameters: Any,
) -> None:
    made = {name: nnx.Param(jnp.array(value)) for name, value in parameters.items()}

    def add_reference(model: Any, x: Any) -> Any:
        model.again = model
        return model, x

    def add_module(model: Any, x: Any) -> Any:
        model.empty = nnx.Dict()
        return model, x

    for step in (add_reference, add_module):
        model = model_of(nnx, **made)
        names = list(vars(model))
        with pytest.raises(nnx.errors.CarryTypeError, match="was added"):
            nnx.scan(step, in_axes=(nnx.Carry, 0), out_axes=(nnx.Carry, 0))(model, XS)
        assert list(vars(model)) == names


@both
def test_a_static_attribute_of_a_carried_model_may_change(lib):
    def step(model: Any, x: Any) -> Any:
        model.kind = "b"
        return model, x

    model = counter(lib)
    lib.scan(step)(model, XS)
    assert model.kind == "b"
