"""`jit`: trace, lower, compile, and call what was compiled, with models."""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.support.processes import run_process
from tests.transforms.jit_models import (
    bump,
    contents,
    count_of,
    counter,
    counter_type,
    counting,
    numbers,
)
from tests.transforms.modes import all_modes

X = jax.ShapeDtypeStruct((3,), jnp.float32)
STAGES = {
    "trace": lambda step, *args: step.trace(*args).lower().compile(),
    "lower": lambda step, *args: step.lower(*args).compile(),
}
each_stage = pytest.mark.parametrize("compiled", STAGES.values(), ids=STAGES.keys())


@both
@all_modes
@pytest.mark.parametrize("stage", ["trace", "lower", "eval_shape"])
def test_a_stage_leaves_the_model_as_it_was(lib, mode, stage):
    model = counter(lib)
    before = contents(lib, lib.clone(model))
    getattr(lib.jit(bump, **mode), stage)(model, 2)
    assert contents(lib, model) == before


@both
@all_modes
@each_stage
def test_a_compiled_step_updates_models(lib, mode, compiled):
    traces: list[None] = []
    model, other = counter(lib), counter(lib)
    step = compiled(lib.jit(counting(traces, bump), **mode), model, 2)
    assert numbers(step(model, 2)) == [2, 4, 6]
    assert numbers(step(model, 3)) == [3, 6, 9]
    assert numbers(step(other, 4)) == [4, 8, 12]
    assert (count_of(model), count_of(other), len(traces)) == (5, 4, 1)


@both
def test_a_compiled_step_gives_modules_and_keeps_identity(lib):
    model = counter(lib)
    step = lib.jit(lambda m: (m, counter(lib, 2))).lower(model).compile()
    same, new = step(model)
    assert same is model
    assert (type(new), numbers(new.kernel[...])) == (counter_type(lib), [1, 2])


@both
@all_modes
def test_a_step_compiled_for_abstract_models_runs_on_real_ones(lib, mode):
    abstract = lib.eval_shape(counter_type(lib))
    step = lib.jit(type(abstract).__call__, **mode).lower(abstract, X).compile()
    model = counter(lib)
    assert numbers(step(model, jnp.array([2.0, 3.0, 4.0]))) == [2, 6, 12]
    assert count_of(model) == 1


@both
@all_modes
@pytest.mark.parametrize("name", [False, True], ids=["by_position", "by_name"])
def test_static_arguments_are_left_out_when_compiled(lib, mode, name):
    model = counter(lib)
    if name:
        lowered = lib.jit(lambda m, k: bump(m) * k, static_argnames="k", **mode).lower(model, k=3)
    else:
        lowered = lib.jit(lambda m, k: bump(m) * k, static_argnums=1, **mode).lower(model, 3)
    assert numbers(lowered.compile()(model)) == [3, 6, 9]


@both
@all_modes
def test_eval_shape_gives_the_result_alone(lib, mode):
    step = lib.jit(lambda m, x: (bump(m) * x, counter(lib, 2)), **mode)
    shape, model = step.eval_shape(counter(lib), 2.0)
    assert (shape.shape, shape.dtype) == ((3,), jnp.float32)
    assert type(model) is counter_type(lib)
    assert model.kernel.get_value() == jax.ShapeDtypeStruct((2,), jnp.float32)


@both
@all_modes
def test_the_stages_tell_about_the_program(lib, mode):
    step = lib.jit(bump, donate_argnums=0, **mode)
    model = counter(lib)
    lowered = step.lower(model, 2)
    assert "module @jit_bump" in lowered.as_text()
    if jax.default_backend() == "cpu":  # for others jax has no estimate before it compiles
        assert lowered.cost_analysis()["flops"] > 0
    assert type(lowered.compiler_ir()).__name__ == "Module"
    donated = {info.donated for info in jax.tree.leaves(lowered.args_info[0][0])}
    assert donated == {True}
    compiled = lowered.compile()
    assert "HloModule jit_bump" in compiled.as_text()
    assert compiled.cost_analysis()["flops"] > 0
    assert compiled.memory_analysis().argument_size_in_bytes > 0
    assert compiled.runtime_executable() is not None
    assert len(jax.tree.leaves(compiled.input_shardings)) == 3
    assert len(jax.tree.leaves(compiled.output_shardings)) >= 2


@both
@all_modes
def test_stages_have_a_repr_that_names_them(lib, mode):
    step = lib.jit(bump, **mode)
    model = counter(lib)
    traced, lowered = step.trace(model), step.lower(model)
    for stage, name in ((traced, "Traced"), (lowered, "Lowered"), (lowered.compile(), "Compiled")):
        assert name in repr(stage)


@all_modes
def test_a_trace_gives_its_jaxpr(mode):
    traced = nnx.jit(bump, **mode).trace(counter(nnx), 2)
    primitives = [str(eqn.primitive) for eqn in traced.jaxpr.eqns]
    assert primitives.count("mul") == 1
    assert primitives.count("add") == 1


@all_modes
def test_stages_describe_the_arguments_and_the_result_of_the_user(mode):
    def step(model, k, x):
        model.count[...] += k
        return {"new": counter(nnx, 2), "y": model.kernel[...] * x}

    model = counter(nnx)
    traced = nnx.jit(step, static_argnums=1, donate_argnums=2, **mode).trace(model, 3, 2.0)
    lowered = traced.lower()
    for stage in (traced, lowered, lowered.compile()):
        assert stage.in_tree == jax.tree.structure(((model, 2.0), {}))
        assert stage.donate_argnums == (2,)
        (seen, x), kwargs = stage.in_avals
        assert (type(seen), seen.kernel.get_raw_value().shape, x.shape) == (type(model), (3,), ())
        assert (seen.mode, kwargs) == ("train", {})
        assert stage.out_tree == jax.tree.structure({"new": counter(nnx, 2), "y": 0})
        assert stage.out_info["new"].kernel.get_raw_value().shape == (2,)
        (changed, nothing), _ = stage.updates_info
        assert (list(changed), nothing) == (["count"], None)
    assert count_of(model) == 0


def test_stages_describe_new_and_returned_attributes():
    def step(model):
        model.new = nnx.Param(jnp.ones(4))
        return model, model.kernel

    traced = nnx.jit(step).trace(counter(nnx))
    seen, kernel = traced.out_info
    (changed,), _ = traced.updates_info
    assert (seen.kernel is kernel, seen.new.get_raw_value().shape) == (True, (4,))
    assert list(changed) == ["new"]


@all_modes
def test_a_jitted_method_has_stages_and_compile_is_short_for_them(mode):
    class Model(nnx.Module):
        def __init__(self):
            self.count = nnx.BatchStat(jnp.array(0))

        @nnx.jit(**mode)
        def step(self, x):
            self.count[...] += x
            return self.count[...] * 2

    model = Model()
    assert numbers(model.step.compile(1)(3)) == 6
    assert numbers(model.step.lower(1).compile()(3)) == 12
    assert model.step.trace(1).fun_name == "step"
    assert model.step.eval_shape(1).shape == ()
    assert count_of(model) == 6


MEASURED = """
import typed_nnx as nnx
from tests.transforms.jit_models import (counter)
traces = []
step = nnx.jit(lambda model: (traces.append(None), model.kernel[...] * 2)[1])
for size in (3, 3, 4, 3):
    step(counter(nnx, size))
sizes = [step._cache_size()]
step.clear_cache()
sizes.append(step._cache_size())
step(counter(nnx, 3))
print(sizes, len(traces))
"""


@pytest.mark.thorough
def test_the_cache_can_be_measured_and_cleared():
    # In a process of its own: how long jax keeps a program depends on what else ran in the process.
    done = run_process([sys.executable, "-c", MEASURED], check=True)
    assert done.stdout == "[2, 0] 3\n"


def test_shapes_belong_to_the_keyword_arguments_in_whatever_order_they_are():
    def widen(*, b, a):
        b.set_value(jnp.ones(9))
        return a, b

    a, b = nnx.Param(jnp.ones(2)), nnx.Param(jnp.ones(5))
    for left, right in (
        nnx.eval_shape(widen, b=b, a=a),
        nnx.jit(widen).eval_shape(b=b, a=a),
        nnx.jit(widen).lower(b=b, a=a).out_info,
    ):
        assert (left.get_value().shape, right.get_value().shape) == ((2,), (9,))


def test_eval_shape_takes_static_arguments_that_are_no_arrays():
    step = nnx.jit(lambda weight, mode: weight, static_argnums=1)
    assert step.eval_shape(nnx.Param(jnp.ones(3)), "train").get_value().shape == (3,)
