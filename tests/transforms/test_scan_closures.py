"""What `scan` takes or says beyond NNX: captured objects, and errors that name the path."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.transforms.mapping_scenarios import (
    all_modes,
    model_of,
    values,
)
from typed_nnx.errors import CarryTypeError

XS = jnp.arange(4.0)


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
