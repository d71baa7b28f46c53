"""`update`: all of it or nothing; what may stand in a State; compared with flax.nnx."""

from __future__ import annotations

import collections
import functools
import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.graph.oracle import walk
from tests.support.peer import Scenario, assert_as_in_flax, scenarios

Pair = collections.namedtuple("Pair", ["left", "right"])


@functools.cache
def model_class(nnx: tp.Any) -> tp.Any:
    class Model(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.zeros(2), note="old")
            self.same = self.w
            self.blocks = nnx.List(
                [nnx.Param(jnp.zeros(1)), nnx.Dict(s=nnx.BatchStat(jnp.zeros(1)))]
            )
            self.scale = jnp.zeros(())
            self.plain = nnx.data({"a": [nnx.Param(jnp.zeros(1)), jnp.zeros(1)]})
            self.name = "model"

    return Model


def with_raw_values(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    nnx.update(model, {"w": jnp.ones(2), "blocks": {0: np.ones(3)}, "plain": {"a": {0: 5, 1: 6}}})
    return walk(model)


def the_last_state_wins(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    nnx.update(model, {"w": jnp.ones(2)}, {"w": jnp.full(2, 2.0)})
    return walk(model)


def a_variable(nnx: tp.Any) -> tp.Any:
    variable = nnx.Param(jnp.zeros(1))
    nnx.update(variable, nnx.Param(jnp.ones(1)))
    return variable[...].tolist()


@scenarios(with_raw_values, the_last_state_wins, a_variable)
def test_an_update_does_what_it_does_in_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def test_all_unknown_paths_are_listed_and_nothing_is_changed() -> None:
    model = model_class(nnx)()
    before = walk(model)
    with pytest.raises(nnx.errors.UnknownPathError) as caught:
        nnx.update(
            model,
            {"w": jnp.ones(2), "x": 1, "blocks": {0: jnp.ones(1), 7: 1}, "deep": {"y": {"z": 2}}},
        )
    assert sorted(caught.value.paths, key=repr) == [("blocks", 7), ("deep", "y", "z"), ("x",)]
    lines = str(caught.value).splitlines()
    assert lines[0] == "update: Model has nothing at the path(s):"
    assert {"    ('x',)", "    ('blocks', 7)", "    ('deep', 'y', 'z')"} == set(lines[1:4])
    assert lines[4].startswith("  Fix: ")
    assert walk(model) == before


@pytest.mark.parametrize("node", [jnp.ones(2), 3, "text"], ids=["array", "number", "text"])
def test_a_value_that_is_no_object_is_refused(node: object) -> None:
    with pytest.raises(nnx.errors.ArgumentError, match="expected an object, or a container"):
        nnx.update(node, nnx.state(model_class(nnx)()))


class Deep(nnx.Module):
    def __init__(self) -> None:
        self.optimizer = nnx.data(optax.adam(1e-3).init({"w": jnp.zeros(2)}))
        self.pair = nnx.data(Pair(nnx.Param(jnp.zeros(1)), (jnp.zeros(1), None)))
        self.w = nnx.Param(jnp.zeros(1))


def test_optax_states_and_tuples_are_rebuilt_around_new_arrays() -> None:
    model = Deep()
    variable = model.pair.left
    nnx.split(model)
    nnx.update(model, jax.tree.map(lambda x: x + 1, nnx.state(model)))
    assert type(model.optimizer[0]) is type(optax.adam(1e-3).init({"w": jnp.zeros(2)})[0])
    assert model.optimizer[0].mu["w"].tolist() == [1.0, 1.0]
    assert int(model.optimizer[0].count) == 1
    assert isinstance(model.pair, Pair)
    assert model.pair.left is variable
    assert variable[...].tolist() == [1.0]
    assert model.pair.right[0].tolist() == [1.0]
    assert model.pair.right[1] is None
    assert [float(x.sum()) for x in jax.tree.leaves(nnx.state(model))] == [1, 2, 2, 1, 1, 1]


def test_a_bare_tuple_as_root_cannot_be_updated_and_says_so() -> None:
    variable = nnx.Param(jnp.zeros(1))
    with pytest.raises(nnx.errors.GraphError, match=r"path \(1,\)"):
        nnx.update((variable, jnp.zeros(1)), {0: jnp.ones(1), 1: jnp.ones(1)})
    assert variable[...].tolist() == [0.0]
    nnx.update((variable, jnp.zeros(1)), {0: jnp.ones(1)})
    assert variable[...].tolist() == [1.0]


@pytest.mark.thorough
def test_an_update_under_another_trace_is_refused_and_changes_nothing() -> None:
    model = model_class(nnx)()

    @jax.jit
    def changed(x: jax.Array) -> jax.Array:
        for state in ({"w": x}, {"scale": x}, {"plain": {"a": {0: x}}}, {"plain": {"a": {1: x}}}):
            with pytest.raises(nnx.errors.TraceLevelError):
                nnx.update(model, state)
        return x

    changed(jnp.ones(2))
    assert walk(model) == walk(model_class(nnx)())


def test_a_reference_keeps_its_identity_and_gets_the_value() -> None:
    model = nnx.Dict(r=nnx.Param(jnp.zeros(2), ref=True))
    raw = model["r"].get_raw_value()
    nnx.update(model, {"r": jnp.ones(2)})
    assert model["r"].get_raw_value() is raw
    assert raw[...].tolist() == [1.0, 1.0]


@both
def test_states_are_read_before_anything_is_written(lib: tp.Any) -> None:
    model = lib.BatchNorm(2, rngs=lib.Rngs(0))
    statistics = lib.state(model, lib.BatchStat)
    changed = jax.tree.map(lambda leaf: leaf + 1, lib.state(model))

    lib.update(model, changed, statistics)  # it holds the Variables of the model themselves

    assert np.array_equal(model.scale[...], [2.0, 2.0])
    assert np.array_equal(model.var[...], [1.0, 1.0])
    lib.update(model, statistics, changed)
    assert np.array_equal(model.var[...], [2.0, 2.0])
