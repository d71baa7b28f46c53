"""`scan` over objects: it is the loop over the steps; the laws hold in NNX too."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.mapping_scenarios import model_of, scan_by_loop, stacked_model, values
from tests.transforms.modes import all_modes
from typed_nnx.errors import CarryTypeError

XS = jnp.arange(4.0)


def apply_layer(layer: Any, carry: Any) -> Any:
    """Read and write every Variable of a layer; float carry [3] -> float [3]."""
    layer.total[...] += carry.sum()
    layer.inner.bias[...] *= 2.0
    return carry * 0.5 + layer.weight[...] + layer.inner.bias[...].reshape(1)


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


# -- what is carried, beyond NNX --------------------------------------------------------------------


def exchanges(model: Any) -> None:
    model.one, model.two = model.two, model.one


def points_elsewhere(model: Any) -> None:
    model.two = model.one


@pytest.mark.parametrize("change", [exchanges, points_elsewhere], ids=lambda f: f.__name__)
def test_what_is_carried_must_stay_in_its_place(change):
    # flax hands values on by place, and gets the identities wrong for an even number of steps.
    def step(model: Any, x: Any) -> Any:
        change(model)
        model.one[...] += x
        return model, None

    model = model_of(nnx, one=nnx.BatchStat(jnp.zeros(())), two=nnx.BatchStat(jnp.ones(())))
    held, before = (model.one, model.two), values(model)
    with pytest.raises(CarryTypeError, match=r"model\.two .*\.one|model\.one was"):
        nnx.scan(step)(model, XS)
    assert model.one is held[0]
    assert model.two is held[1]
    assert values(model) == before


def test_a_carried_array_may_not_change_places_with_another_unseen():
    def step(model: Any, x: Any) -> Any:
        model.one, model.two = model.two, model.one
        model.kind = "other"
        return model, model.one + x

    model = model_of(nnx, one=jnp.zeros(()), two=jnp.ones(()), kind="first")
    with pytest.raises(CarryTypeError):
        nnx.scan(step)(model, XS)
    assert (float(model.one), float(model.two), model.kind) == (0.0, 1.0, "first")


@all_modes
def test_another_object_in_the_carry_names_its_place(mode):
    class Model(nnx.Module):
        def __init__(self, count: Any) -> None:
            self.count = nnx.BatchStat(count)

    def step(carry: Any, x: Any) -> Any:
        return {"left": carry["left"], "right": Model(x)}, None

    carry = {"left": Model(jnp.zeros(())), "right": Model(jnp.zeros(()))}
    with pytest.raises(ValueError, match="right") as caught:
        nnx.scan(step, **mode)(carry, XS)
    assert "left" not in str(caught.value)
    assert "Fix: " in str(caught.value)


@pytest.mark.parametrize("returned", ["one", "list", "three"])
@all_modes
def test_a_function_must_return_a_carry_and_an_output(mode, returned):
    def step(carry: Any, x: Any) -> Any:
        return {"one": carry, "list": [carry, x], "three": (carry, x, x)}[returned]

    with pytest.raises((TypeError, ValueError), match="out_axes|return"):
        nnx.scan(step, **mode)(0.0, XS)
