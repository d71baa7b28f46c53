"""Models that a function closes over, in any way, are managed under every transform."""

from __future__ import annotations

import jax.numpy as jnp
import pytest

from tests.transforms.closure_forms import FORMS, RUNS, TWO, free_variable, outcome, with_rule
from tests.transforms.library import nnx
from tests.transforms.modes import all_modes, counter, number, use

every_run = pytest.mark.parametrize("run", list(RUNS.values()), ids=list(RUNS))
every_form = pytest.mark.parametrize("form", list(FORMS.values()), ids=list(FORMS))


@every_run
@every_form
def test_what_a_closure_does_to_a_model_is_done_to_the_model(run, form):
    model = counter(nnx, 1.0, 2.0)
    weights, count = model.w, model.n
    function = form(model)
    assert outcome(run, function) == run.result
    assert number(model.n) == run.uses
    assert model.w is weights
    assert model.n is count
    outcome(run, function)
    assert number(model.n) == 2 * run.uses


@all_modes
@every_run
def test_every_mode_manages_captured_models(run, mode):
    model = counter(nnx, 1.0, 2.0)
    count = model.n
    assert outcome(run, free_variable(model), **mode) == run.result
    assert number(model.n) == run.uses
    assert model.n is count


@all_modes
@every_run
def test_a_captured_variable_is_managed_by_itself(run, mode):
    total = nnx.Variable(jnp.float32(0))

    def inside(*args):
        total[...] += 1
        return args[-1] * 3

    assert outcome(run, inside, **mode) == run.result
    assert number(total) == run.uses


@every_run
def test_a_plain_array_of_a_captured_model_is_updated(run):
    model = counter(nnx)
    model.plain = nnx.data(jnp.float32(0))

    def inside(*args):
        model.plain = model.plain + 1
        return args[-1] * 3

    assert outcome(run, inside) == run.result
    assert number(model.plain) == run.uses


@pytest.mark.parametrize(
    "look",
    [nnx.eval_shape, lambda f, x: nnx.make_jaxpr(f)(x), lambda f, x: nnx.jit(f).lower(x)],
    ids=["eval_shape", "make_jaxpr", "lower"],
)
def test_what_only_looks_at_a_function_leaves_a_captured_model(look):
    model = counter(nnx, 1.0, 2.0)
    look(free_variable(model), TWO)
    assert number(model.n) == 0.0


@all_modes
def test_a_model_that_a_function_with_a_rule_captures_is_changed_once(mode):
    model = counter(nnx, 1.0, 2.0)
    assert number(nnx.grad(with_rule(free_variable(model), **mode), **mode)(TWO)) == 7.0
    assert number(model.n) == 1.0


def test_a_model_is_captured_through_transformed_functions():
    model = counter(nnx, 1.0, 2.0)
    inside = free_variable(model)
    for build in (
        lambda: nnx.jit(nnx.grad(inside)),
        lambda: nnx.jit(nnx.remat(inside)),
        lambda: nnx.grad(nnx.remat(nnx.jit(inside))),
        lambda: nnx.jit(lambda x: nnx.grad(inside)(x)),
        lambda: nnx.jit(lambda x: nnx.cond(True, nnx.grad(inside), lambda x: x, x)),
    ):
        before = number(model.n)
        assert number(build()(TWO)) in (3.0, 6.0)
        assert number(model.n) == before + 1


def test_a_model_assigned_after_the_decoration_is_captured():
    @nnx.jit
    def inside(x):
        return use(late, x)

    late = counter(nnx, 1.0, 2.0)
    assert number(inside(TWO)) == 6.0
    assert number(late.n) == 1.0
