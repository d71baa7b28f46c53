"""What a call writes into the objects outside: all that changed, everywhere, or nothing."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.mapping_scenarios import model_of

ONE = jnp.ones(())


def variable(number: float) -> Any:
    return nnx.Param(jnp.full((), number))


@both
def test_a_second_name_that_points_elsewhere_points_there_outside(lib):
    model = model_of(lib, one=lib.Param(ONE), two=lib.Param(ONE * 2))
    model.zz = model.one

    def step(m: Any) -> None:
        m.zz = m.two

    lib.jit(step)(model)
    assert model.zz is model.two


def test_all_that_is_taken_off_keeps_what_was_written_to_it():
    model = model_of(nnx, one=model_of(nnx, v=variable(1)), two=model_of(nnx, v=variable(2)))
    taken = model.one, model.two

    def step(m: Any) -> None:
        for part in (m.one, m.two):
            part.v[...] += 10
            part.kind = "taken"
        del m.one, m.two

    nnx.jit(step)(model)
    assert [float(part.v[...]) for part in taken] == [11.0, 12.0]
    assert [part.kind for part in taken] == ["taken", "taken"]


@both
def test_a_variable_in_two_models_is_read_anew_after_a_call_with_the_other(lib):
    shared = lib.BatchStat(ONE)
    left, right = model_of(lib, v=shared), model_of(lib, v=shared, more=lib.Param(ONE))

    @lib.jit
    def bump(m: Any) -> Any:
        m.v[...] += 1
        return m.v[...]

    seen = [float(bump(model)) for model in (left, right, left, left, right)]
    assert seen == [2.0, 3.0, 4.0, 5.0, 6.0]


@pytest.mark.parametrize("change", ["value", "array", "structure"])
def test_an_object_of_an_outer_trace_is_refused_and_nothing_is_written(change):
    inside = model_of(nnx, v=variable(1))
    outside = model_of(nnx, v=variable(1), bare=ONE)
    held = outside.v, outside.v.get_raw_value(), outside.bare

    def step(first: Any, second: Any) -> None:
        first.v[...] += 1
        if change == "value":
            second.v[...] += 1
        elif change == "array":
            second.bare = second.bare + 1
        else:
            second.new = nnx.Param(ONE)

    def traced(x: Any) -> Any:
        inside = model_of(nnx, v=nnx.Param(x))
        before = inside.v.get_raw_value()
        with pytest.raises(nnx.errors.TraceLevelError):
            nnx.jit(step)(inside, outside)
        assert inside.v.get_raw_value() is before
        return x

    jax.jit(traced)(inside.v[...])
    assert outside.v is held[0]
    assert outside.v.get_raw_value() is held[1]
    assert outside.bare is held[2]
    assert not hasattr(outside, "new")


@pytest.mark.parametrize("calls", [1, 2])
def test_a_list_in_a_variable_that_grows_in_place_has_grown_outside(calls):
    model = model_of(nnx, v=nnx.Cache([ONE]))

    @nnx.jit
    def step(m: Any) -> None:
        m.v.get_value().append(ONE * 2)

    for _ in range(calls):
        step(model)
    assert [float(x) for x in model.v.get_value()] == [1.0] + [2.0] * calls


def test_an_untouched_array_stays_the_very_array_when_the_structure_changes():
    model = model_of(nnx, bare=ONE, v=variable(1))
    held = model.bare, model.v.get_raw_value()

    def step(m: Any) -> None:
        m.new = nnx.Param(ONE)

    nnx.jit(step)(model)
    assert model.bare is held[0]
    assert model.v.get_raw_value() is held[1]
