"""Models that a function closes over, in any way, are managed under every transform."""

from __future__ import annotations

import jax.numpy as jnp
import pytest

from tests.transforms.closure_forms import FORMS, RUNS, TWO, free_variable, outcome
from tests.transforms.library import nnx
from tests.transforms.modes import Before, all_modes, counter, number, use

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


@every_form
def test_the_function_itself_is_as_it_was(form):
    model = counter(nnx, 1.0, 2.0)
    function = form(model)
    outcome(RUNS["jit"], function)
    assert number(function(TWO)) == 6.0
    assert number(model.n) == 2.0


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
def test_two_captured_models_are_told_apart(run):
    one, two = counter(nnx, 1.0), counter(nnx, 2.0)

    def inside(*args):
        two.n[...] += 1
        return use(one, *args) + use(two, *args)

    assert outcome(run, inside) == run.result
    assert number(one.n) == run.uses
    assert number(two.n) == 2 * run.uses


@every_run
def test_two_closures_of_one_definition_share_nothing(run):
    one, two = counter(nnx, 1.0, 2.0), counter(nnx, 0.0, 3.0)
    assert outcome(run, free_variable(one)) == run.result
    assert outcome(run, free_variable(two)) == run.result
    assert outcome(run, free_variable(two)) == run.result
    assert (number(one.n), number(two.n)) == (run.uses, 2 * run.uses)
    assert (number(one.w), number(two.w)) == ([1.0, 2.0], [0.0, 3.0])


@all_modes
@every_run
def test_an_exception_leaves_captured_models_as_they_were(run, mode):
    model = counter(nnx)
    before = Before(model)

    def fails(*args):
        use(model, *args)
        raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        outcome(run, fails, **mode)
    assert before.is_still_so()


@every_run
def test_captured_streams_move_on(run):
    rngs = nnx.Rngs(0)

    def inside(*args):
        rngs()
        return args[-1] * 3

    assert outcome(run, inside) == run.result
    assert number(rngs.default.count) == run.uses


@every_run
def test_a_plain_array_of_a_captured_model_is_updated(run):
    model = counter(nnx)
    model.plain = nnx.data(jnp.float32(0))

    def inside(*args):
        model.plain = model.plain + 1
        return args[-1] * 3

    assert outcome(run, inside) == run.result
    assert number(model.plain) == run.uses


@pytest.mark.parametrize("function", ["cond", "switch"])
def test_every_branch_may_close_over_the_same_or_its_own_model(function):
    shared, own = counter(nnx, 1.0), counter(nnx, 2.0)

    def one(x):
        own.n[...] += 1
        return use(shared, x)

    def two(x):
        shared.n[...] += 10
        return use(shared, x)

    for taken in (True, False):
        if function == "cond":
            nnx.cond(taken, one, two, TWO)
        else:
            nnx.switch(int(not taken), (one, two), TWO)
    assert (number(shared.n), number(own.n)) == (12.0, 1.0)


@all_modes
def test_the_condition_of_a_loop_sees_what_the_body_did_to_a_captured_model(mode):
    model = counter(nnx, 1.0, 2.0)
    result = nnx.while_loop(lambda x: model.n[...] < 4, free_variable(model), TWO, **mode)
    assert number(result) == 2.0 * 3**4
    assert number(model.n) == 4.0


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


def test_a_loop_inside_jit_counts_for_a_model_that_both_capture():
    model = counter(nnx, 1.0, 2.0)

    @nnx.jit
    def inside(x):
        use(model, x)
        return nnx.fori_loop(0, 3, free_variable(model), x)

    assert number(inside(TWO)) == 54.0
    assert number(model.n) == 4.0


def test_a_model_assigned_after_the_decoration_is_captured():
    @nnx.jit
    def inside(x):
        return use(late, x)

    late = counter(nnx, 1.0, 2.0)
    assert number(inside(TWO)) == 6.0
    assert number(late.n) == 1.0
