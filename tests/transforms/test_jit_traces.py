"""`jit`: when a function is traced again, and what a jitted function keeps alive."""

from __future__ import annotations

import gc
import weakref

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.jit_models import bump, count_of, counter, counting, raw
from tests.transforms.modes import all_modes


@all_modes
def test_train_and_eval_retrace_once_and_then_hit_the_cache(mode):
    traces: list[None] = []

    class Model(nnx.Module):
        def __init__(self):
            self.deterministic = False

    model = nnx.List([Model(), Model()])
    step = nnx.jit(counting(traces, lambda m: m[0].deterministic + m[1].deterministic), **mode)
    results = []
    for _ in range(3):
        model.train()
        results.append(int(step(model)))
        model.eval()
        results.append(int(step(model)))
    assert results == [0, 2] * 3
    assert len(traces) == 2


@both
@all_modes
def test_true_and_one_are_different_static_values(lib, mode):
    model = counter(lib)
    step = lib.jit(lambda m: jnp.array(isinstance(m.mode, bool)), **mode)
    results = []
    for model.mode in (1, True, 1):
        results.append(bool(step(model)))
    # flax takes 1 and True for one value, and so gives the result of the first trace.
    assert results == ([False, True, False] if lib is nnx else [False] * 3)


@all_modes
def test_fifty_alternating_models_do_not_retrace(mode):
    traces: list[None] = []
    step = nnx.jit(counting(traces, bump), **mode)
    models = [counter(nnx) for _ in range(50)]
    for round_ in (1, 2, 3):
        for model in models:
            step(model)
        assert {count_of(model) for model in models} == {round_}
    assert len(traces) == 1


@pytest.mark.thorough
@all_modes
def test_a_jitted_function_keeps_no_model_alive(mode):
    step = nnx.jit(bump, **mode)
    model = counter(nnx)
    step(model)
    seen = [weakref.ref(model), weakref.ref(model.kernel), weakref.ref(raw(model.count))]
    del model
    gc.collect()
    assert [reference() for reference in seen] == [None] * 3


@pytest.mark.slow
@all_modes
def test_two_thousand_fresh_models_leave_no_memory_behind(mode):
    step = nnx.jit(bump, **mode)

    def calls(number):
        for _ in range(number):
            step(counter(nnx))
        gc.collect()
        return len(gc.get_objects()), len(jax.live_arrays())

    calls(20)
    objects, arrays = calls(20)
    objects_after, arrays_after = calls(2000)
    assert objects_after - objects < 200
    assert arrays_after == arrays
