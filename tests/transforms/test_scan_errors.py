"""What `scan` refuses, and that it leaves the models as they were; the laws hold in NNX too."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.mapping_scenarios import all_modes, model_of, values

XS = jnp.arange(4.0)


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
