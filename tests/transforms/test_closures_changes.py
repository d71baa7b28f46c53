"""Captured models that change: from outside between calls, or in structure inside."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import jax.numpy as jnp
import pytest

from tests.transforms.closure_forms import RUNS
from tests.transforms.library import nnx
from tests.transforms.modes import Before, all_modes, counter, fixed_modes, number, use
from typed_nnx.errors import StructureChangedError

X = jnp.float32(2)


both_ways = pytest.mark.parametrize("first", [True, False], ids=["beside", "alone"])


@all_modes
def test_new_values_from_outside_are_seen_without_a_new_trace(mode):
    model, traces = counter(nnx, 1.0, 2.0), []

    @nnx.jit(**mode)
    def inside(x):
        traces.append(1)
        return use(model, x)

    assert number(inside(X)) == 6.0
    model.w[...] = jnp.array([3, 4], jnp.float32)
    model.n[...] = jnp.float32(10)
    assert number(inside(X)) == 14.0
    assert number(model.n) == 11.0
    model.w = nnx.Param(jnp.array([5, 6], jnp.float32))
    assert number(inside(X)) == 22.0
    assert len(traces) == 1


def test_a_static_value_changed_outside_is_seen_and_costs_one_trace():
    model, traces = counter(nnx), []
    model.mode = "train"

    @nnx.jit
    def inside():
        traces.append(model.mode)
        return 1 if model.mode == "train" else 2

    seen = []
    for mode in ("train", "eval", "train", "eval"):
        model.mode = mode
        seen.append(int(inside()))
    assert seen == [1, 2, 1, 2]
    assert traces == ["train", "eval"]


def test_a_model_exchanged_in_a_captured_list_or_dict_is_seen():
    models = {"all": [counter(nnx, 1.0)]}

    @nnx.jit
    def inside(x):
        return sum(use(model, x) for model in models["all"])

    assert number(inside(X)) == 2.0
    models["all"].append(counter(nnx, 5.0))
    assert number(inside(X)) == 12.0
    models["all"][0] = counter(nnx, 2.0)
    assert number(inside(X)) == 14.0
    assert [number(model.n) for model in models["all"]] == [1.0, 2.0]
    models["all"] = [counter(nnx, 3.0)]
    assert number(inside(X)) == 6.0


@both_ways
def test_a_model_exchanged_in_a_list_beside_its_own_capture_is_seen(first):
    model = counter(nnx, 1.0, 2.0)
    held = [model]

    @nnx.jit
    def step():
        if first:
            use(model, 0.0)
        return use(held[0], 1.0)

    assert number(step()) == 3.0
    held[0] = counter(nnx, 5.0, 6.0)
    assert number(step()) == 11.0
    assert number(held[0].n) == 1.0
    assert number(model.n) == (3.0 if first else 1.0)


@pytest.mark.thorough
@pytest.mark.parametrize("count", [1000, 1001, 5000])
def test_there_is_no_number_of_captured_objects_at_which_they_become_constants(count):
    parameters = [nnx.Param(jnp.zeros(())) for _ in range(count)]
    read = nnx.jit(lambda: parameters[0][...] + 0)
    read()
    parameters[0][...] = jnp.array(5.0)
    assert number(read()) == 5.0


def test_a_model_put_into_a_captured_list_of_arrays_or_a_named_tuple_in_it_is_seen():
    model = counter(nnx, 1.0, 2.0)
    held = [jnp.ones(())]
    step = nnx.jit(lambda: held[0] * 1.0 if len(held) == 1 else use(held[1], 1.0))
    assert number(step()) == 1.0
    held.append(model)
    assert number(step()) == 3.0
    assert number(model.n) == 1.0


@pytest.mark.parametrize(
    "bind",
    [lambda step, *bound: nnx.cached_partial(nnx.jit(step), *bound), nnx.jit_partial],
    ids=["cached_partial", "jit_partial"],
)
def test_a_bound_step_works_again_when_a_captured_list_is_empty_again(bind):
    model = counter(nnx)
    added: list[Any] = []

    def step(model, x):
        return sum([each[...] for each in added], use(model, x))

    bound = bind(step, model)
    before = [number(bound(1.0)) for _ in range(2)]
    added.append(nnx.Param(jnp.float32(10)))
    seen = number(bound(X))
    added.clear()
    after = number(bound(X))
    assert (after, seen) == (2 * before[0], 2 * before[0] + 10)


def test_a_function_in_a_captured_list_that_reads_the_list_is_seen():
    model = counter(nnx, 1.0, 2.0)
    steps: list[Any] = [lambda x: use(model, x), lambda x: steps[0](x) + x]
    assert number(nnx.jit(steps[1])(X)) == 8.0
    assert number(nnx.jit(lambda x: steps[1](x))(X)) == 8.0
    assert number(model.n) == 2.0


def test_a_changed_default_argument_is_seen():
    def inside(x, model=counter(nnx, 1.0)):  # noqa: B008 -- the form under test
        return use(model, x)

    lifted = nnx.jit(inside)
    assert number(lifted(X)) == 2.0
    inside.__defaults__ = (counter(nnx, 2.0),)
    assert number(lifted(X)) == 4.0


# -- structure -------------------------------------------------------------------------------------


@pytest.mark.parametrize("transform", ["jit", "remat", "vmap", "grad"])
def test_the_structure_of_a_captured_model_may_change_inside(transform):
    model = counter(nnx, 1.0, 2.0)
    weights, count = model.w, model.n

    def inside(x):
        model.extra = nnx.Variable(model.w[...] * 3)
        model.mode = "trained"
        model.w = nnx.Param(model.w[...] + 1)
        del model.n
        return x * 1

    lifted = getattr(nnx, transform)(inside)
    lifted(jnp.ones(2) if transform == "vmap" else X)
    assert number(model.extra) == [3.0, 6.0]
    assert model.mode == "trained"
    assert model.w is not weights
    assert number(model.w) == [2.0, 3.0]
    assert not hasattr(model, "n")
    assert (number(weights), number(count)) == ([1.0, 2.0], 0.0)


@pytest.mark.parametrize("loop", ["scan", "while_loop", "fori_loop"])
def test_a_loop_may_not_change_the_structure_of_a_captured_model(loop):
    model = counter(nnx)
    before = Before(model)

    def inside(*args):
        model.z = nnx.Variable(jnp.float32(1))
        return args[-1] * 3

    with pytest.raises((TypeError, ValueError), match=r"\bz\b"):
        RUNS[loop].apply(inside)
    assert before.is_still_so()


@fixed_modes
@pytest.mark.parametrize("transform", ["jit", "remat", "grad"])
def test_without_graph_updates_a_captured_model_may_not_change_structure(mode, transform):
    model = counter(nnx)
    before = Before(model)

    def inside(x):
        model.z = nnx.Variable(x)
        return x * 1

    with pytest.raises(StructureChangedError, match="z was added"):
        getattr(nnx, transform)(inside, **mode)(X)
    assert before.is_still_so()


# -- what is not captured --------------------------------------------------------------------------


def test_nonlocal_writes_beside_a_captured_model_reach_the_outside():
    model, traces, names = counter(nnx), 0, []

    @nnx.jit
    def inside(x):
        nonlocal traces
        traces += 1
        names.append(traces)
        return use(model, x)

    inside(X)
    inside(X)
    assert traces == 1
    assert names == [1]
    assert number(model.n) == 2.0


@pytest.mark.thorough
def test_a_function_and_its_closed_over_model_are_let_go():
    def made():
        model = counter(nnx)

        @nnx.jit
        def inside(x):
            return use(model, x)

        inside(X)
        return weakref.ref(model)

    found = made()
    gc.collect()
    assert found() is None
