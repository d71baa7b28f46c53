"""What each combination of `graph=` and `graph_updates=` lets through, transform by transform."""

from __future__ import annotations

import contextlib
import threading

import jax.numpy as jnp
import pytest

from tests.core.libraries import both
from tests.transforms.modes import (
    MODES,
    Before,
    all_modes,
    counter,
    fixed_modes,
    gradient,
    number,
)

#: Transforms of a function of one model; mapped ones take a model of size 3.
LIFTS = {
    "jit": lambda lib, f, **mode: lib.jit(f, **mode),
    "remat": lambda lib, f, **mode: lib.remat(f, **mode),
    "vmap": lambda lib, f, **mode: lib.vmap(f, **mode),
    "scan": lambda lib, f, **mode: lib.scan(f, in_axes=0, out_axes=0, **mode),
    "cond": lambda lib, f, **mode: lambda model: lib.cond(True, f, f, model, **mode),
    "checkify": lambda lib, f, **mode: lambda model: lib.checkify(f, **mode)(model)[1],
    "grad": lambda lib, f, **mode: (
        lambda model: lib.grad(lambda m: (m.w[...].sum(), f(m)), has_aux=True, **mode)(model)[1]
    ),
}
every_lift = pytest.mark.parametrize("lift", list(LIFTS.values()), ids=list(LIFTS))


def sized(lib):
    return counter(lib, 1.0, 2.0, 3.0, size=(3,))


def doubles(model):
    model.n[...] += 1
    model.w[...] *= 2
    return 0.0


@both
@all_modes
@every_lift
def test_values_come_out_in_every_mode(lib, mode, lift):
    model = sized(lib)
    weights, count = model.w, model.n
    lift(lib, doubles, **mode)(model)
    assert number(model.n) == [1.0, 1.0, 1.0]
    assert number(model.w) == [2.0, 4.0, 6.0]
    assert model.w is weights
    assert model.n is count


@both
@fixed_modes
@every_lift
def test_without_graph_updates_an_argument_may_not_be_returned(lib, mode, lift):
    model = sized(lib)
    before = Before(model)
    for part in (lambda model: model, lambda model: model.w):
        with pytest.raises(ValueError, match=r"\b[wn]\b"):
            lift(lib, part, **mode)(model)
    assert before.is_still_so()


@both
@every_lift
def test_in_tree_mode_a_new_module_may_not_be_returned_twice(lib, lift):
    def inside(model):
        made = counter(lib, 7.0)
        return [made, made]

    with pytest.raises(ValueError, match=r"(?s)Duplicate.*paths.*0.*1"):
        lift(lib, inside, graph=False)(sized(lib))


@both
@every_lift
def test_tree_mode_never_allows_graph_updates(lib, lift):
    model = sized(lib)
    before = Before(model)

    def inside(model):
        model.mode = "trained"
        return 0.0

    with contextlib.suppress(ValueError):
        lift(lib, inside, graph=False, graph_updates=True)(model)
    assert before.is_still_so()


# -- gradients -------------------------------------------------------------------------------------


def squares(model):
    return jnp.square(model.w[...]).sum()


@both
@all_modes
def test_an_integer_variable_is_passed_over_with_graph_updates_only(lib, mode):
    model = counter(lib, 1.0, 2.0)
    model.steps = lib.Variable(jnp.array(0, jnp.int32))
    if not mode:
        assert gradient(lib.grad(squares)(model), "w") == [2.0, 4.0]
        return
    with pytest.raises(TypeError, match="real- or complex-valued"):
        lib.grad(squares, **mode)(model)


# -- setting a mode --------------------------------------------------------------------------------


def marks(model):
    model.mode = "trained"


def is_marked(call, model):
    with contextlib.suppress(ValueError):
        call(model)
    return hasattr(model, "mode")


@both
def test_a_mode_counts_where_a_function_is_transformed_not_where_it_is_called(lib):
    outside = lib.jit(marks)
    with lib.set_graph_updates(False):
        inside = lib.jit(marks)
        assert is_marked(outside, counter(lib))
    assert not is_marked(inside, counter(lib))
    with lib.set_graph_mode(False):
        assert not is_marked(lib.jit(marks), counter(lib))


@both
def test_a_call_of_cond_takes_the_mode_that_is_set(lib):
    def run(model):
        lib.cond(True, marks, marks, model)

    assert is_marked(run, counter(lib))
    with lib.set_graph_updates(False):
        assert not is_marked(run, counter(lib))


@both
def test_an_argument_counts_more_than_the_mode_that_is_set(lib):
    model = counter(lib)
    with lib.set_graph_mode(False):
        assert type(lib.grad(squares)(model)) is type(model)
        assert type(lib.grad(squares, graph=True)(model)) is lib.State
    with lib.set_graph_updates(False):
        assert type(lib.grad(squares)(model)) is type(model)
        assert type(lib.grad(squares, graph_updates=True)(model)) is lib.State


@both
def test_a_block_restores_the_mode_and_other_threads_keep_theirs(lib):
    seen = []

    def look():
        seen.append(lib.set_graph_mode.current_value())

    def fails():
        with lib.set_graph_mode(False):
            look()
            thread = threading.Thread(target=look)
            thread.start()
            thread.join()
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    look()
    assert seen == [False, True, True]


@both
def test_an_inner_transform_has_its_own_mode(lib):
    seen = []

    def outer(model, **mode):
        lib.jit(marks, **mode)(model)
        seen.append(hasattr(model, "mode"))

    model = counter(lib)
    lib.jit(outer)(model)
    assert seen == [True]
    assert model.mode == "trained"
    is_marked(lib.jit(lambda model: outer(model), **MODES["no_updates"]), counter(lib))
    assert seen == [True, True]
