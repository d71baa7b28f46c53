"""What each combination of `graph=` and `graph_updates=` lets through, transform by transform."""

from __future__ import annotations

import contextlib
import threading

import jax.numpy as jnp
import pytest

from tests.core.libraries import both
from tests.transforms.library import nnx
from tests.transforms.modes import (
    MODES,
    Before,
    all_modes,
    counter,
    fixed_modes,
    gradient,
    number,
)
from typed_nnx.errors import SharedReferenceError, StructureChangedError

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


# -- errors without graph updates ------------------------------------------------------------------


def adds(model):
    model.z = nnx.Variable(model.w[...] * 3)


def removes(model):
    del model.n


def sets(model):
    model.mode = "trained"


def replaces(model):
    model.n = nnx.Variable(model.n[...])


def exchanges(model):
    model.n = nnx.Param(model.n[...])


@fixed_modes
@every_lift
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (adds, r"inner\.z was added"),
        (removes, r"inner\.n was removed"),
        (sets, r"inner\.mode was added .*'trained'"),
        (replaces, r"inner\.n"),
        (exchanges, r"inner\.n was a Variable, is a Param"),
    ],
    ids=["adds", "removes", "sets", "replaces", "exchanges"],
)
def test_the_error_names_what_changed_and_where(mode, lift, change, message):
    inner = sized(nnx)
    model = nnx.Dict(inner=inner, w=nnx.Param(jnp.ones(3)))
    before = Before(inner)

    def inside(model):
        change(model.inner)
        return 0.0

    with pytest.raises(StructureChangedError, match=rf"(?s){message}.*Fix:"):
        lift(nnx, inside, **mode)(model)
    assert before.is_still_so()


@every_lift
def test_in_tree_mode_the_error_names_both_paths(lift):
    model = sized(nnx)
    pair = nnx.Dict(first=model, second=model, w=model.w)
    with pytest.raises(SharedReferenceError, match=r"(?s)first.*second.*Fix:"):
        lift(nnx, lambda pair: 0.0, graph=False)(pair)


@fixed_modes
@every_lift
def test_a_structure_that_is_as_it_was_at_the_end_is_no_change(mode, lift):
    model = sized(nnx)

    def inside(model):
        model.helper = nnx.Variable(model.w[...] * 2)
        model.n[...] += model.helper[...]
        del model.helper
        return 0.0

    lift(nnx, inside, **mode)(model)
    assert number(model.n) == [2.0, 4.0, 6.0]


@fixed_modes
def test_a_plain_array_is_a_value_and_not_structure(mode):
    model = counter(nnx)
    model.plain = nnx.data(jnp.zeros(2))

    @nnx.jit(**mode)
    def inside(model):
        model.plain = model.plain + 1

    inside(model)
    assert number(model.plain) == [1.0, 1.0]
