"""`pop`: what is taken, where from, and what stays; compared with flax.nnx."""

from __future__ import annotations

import functools
import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.graph.oracle import value_view, walk
from tests.support.peer import (
    Scenario,
    assert_as_in_flax,
    scenarios,
)


@functools.cache
def model_class(nnx: tp.Any) -> tp.Any:
    class Layer(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.zeros(1))
            self.h = nnx.Intermediate((1, 2))
            self.p = nnx.Perturbation(jnp.zeros(1))

    class Model(nnx.Module):
        def __init__(self) -> None:
            self.layer = Layer()
            self.again = self.layer
            self.layers = nnx.List([Layer(), Layer()])
            self.named = nnx.Dict(a=nnx.Intermediate(3), b=nnx.Param(4))
            self.plain = nnx.data([{"c": nnx.Intermediate(5), "d": nnx.Param(6)}])
            self.h = nnx.Intermediate(7)
            self.me = self

    return Model


def view(nnx: tp.Any, state: tp.Any) -> tp.Any:
    return [(path, value_view(leaf)) for path, leaf in nnx.to_flat_state(state)]


def one_type(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    return view(nnx, nnx.pop(model, nnx.Intermediate)), walk(model)


@scenarios(one_type)
def test_pop_takes_what_it_takes_in_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def test_the_variables_are_the_same_objects() -> None:
    model = model_class(nnx)()
    variable = model.layer.h
    assert nnx.pop(model, nnx.Intermediate)["again"]["h"] is variable


def test_popped_variables_can_be_put_back_by_merge_state() -> None:
    model = model_class(nnx)()
    graphdef, whole = nnx.split(model)
    popped = nnx.pop(model, nnx.Intermediate)
    merged = nnx.merge(graphdef, popped, nnx.state(model))
    assert walk(merged) == walk(nnx.merge(graphdef, whole))


def test_an_element_of_a_list_is_taken_out_and_the_rest_moves_up() -> None:
    items = nnx.List([nnx.Param(1), nnx.Cache(2), nnx.Param(3), nnx.Cache(4), "end"])
    assert nnx.to_pure_dict(nnx.pop(items, nnx.Cache)) == {1: 2, 3: 4}
    assert [x.get_value() if isinstance(x, nnx.Variable) else x for x in items] == [1, 3, "end"]
    assert nnx.to_pure_dict(nnx.state(items)) == {0: 1, 1: 3}


def test_pop_from_a_dict_below_an_object_of_another_trace_is_refused() -> None:
    model: tp.Any = nnx.Module()
    model.plain = nnx.data({"h": nnx.Intermediate(1)})

    @jax.jit
    def popped() -> None:
        with pytest.raises(nnx.errors.TraceLevelError):
            nnx.pop(model, nnx.Intermediate)

    popped()
    assert "h" in model.plain
