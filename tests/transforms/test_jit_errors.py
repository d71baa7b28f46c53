"""`jit`: what is an error, and that an error leaves the models as they were; what the modes demand."""

from __future__ import annotations

import re
import typing as tp

import jax
import jax.numpy as jnp
import pytest
from flax import errors as flax_errors

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.jit_models import (
    bump,
    contents,
    count_of,
    counter,
    in_each_mode,
    numbers,
    pair,
)
from typed_nnx.errors import TraceLevelError

TRACE_ERRORS = (TraceLevelError, flax_errors.TraceContextError)


GLOBALS: dict[tp.Any, tp.Any] = {}


@pytest.mark.thorough
@both
@in_each_mode
@pytest.mark.parametrize(
    "mutate",
    [lambda m: bump(m), lambda m: setattr(m, "mode", "eval"), lambda m: setattr(m, "new", 1)],
    ids=["value", "static_attribute", "new_attribute"],
)
def test_mutating_a_global_model_is_an_error(lib, modes, mutate):
    GLOBALS[lib] = counter(lib)
    before = contents(lib, lib.clone(GLOBALS[lib]))

    def step(x):
        mutate(GLOBALS[lib])
        return x

    with pytest.raises(TRACE_ERRORS, match="trace level"):
        lib.jit(step, **modes)(1.0)
    assert contents(lib, GLOBALS[lib]) == before


@both
@in_each_mode
def test_a_global_model_may_be_read(lib, modes):
    GLOBALS[lib] = counter(lib)
    assert numbers(lib.jit(lambda x: GLOBALS[lib].kernel[...] * x, **modes)(2.0)) == [2, 4, 6]


@both
@in_each_mode
@pytest.mark.parametrize("value", ["text", object(), lambda: 0], ids=["str", "object", "function"])
def test_values_that_are_no_arrays_are_errors(lib, modes, value):
    with pytest.raises(TypeError):
        lib.jit(lambda x: 0, **modes)(value)
    with pytest.raises(TypeError, match="not a valid JAX type"):
        lib.jit(lambda: value, **modes)()


@both
@in_each_mode
def test_a_leaked_tracer_is_an_error_where_it_is_used(lib, modes):
    leaked = []
    model = counter(lib)

    def leak(m):
        leaked.append(m)
        bump(m)

    lib.jit(leak, **modes)(model)
    assert leaked[0] is not model
    with pytest.raises(jax.errors.UnexpectedTracerError):
        jnp.sin(leaked[0].count[...])
    assert count_of(model) == 1


@both
@in_each_mode
def test_wrong_arguments_raise_the_error_of_the_function(lib, modes):
    step = lib.jit(bump, **modes)
    with pytest.raises(TypeError, match=re.escape("missing 1 required positional argument")):
        step()
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        step(counter(lib), y=1)


# -- `jit`: what `graph=False` and `graph_updates=False` demand, and when a mode is read ------------


def shared_inside(lib):
    model = pair(lib)
    model.layers[1] = model.layers[0]
    return (model,)


def shared_between(lib):
    model = pair(lib)
    return model, model.layers[0].count


@pytest.mark.parametrize(
    ("arguments", "places"),
    [
        (shared_inside, r"(?s)\[0\]\.layers\[0\].*\[0\]\.layers\[1\]"),
        (shared_between, r"(?s)\[0\]\.layers\[0\]\.count.*\[1\]"),
    ],
)
def test_the_error_of_sharing_in_a_tree_names_both_paths_as_one_writes_them(arguments, places):
    with pytest.raises(ValueError, match=places):
        nnx.jit(lambda *args: 0, graph=False)(*arguments(nnx))


@both
def test_a_tree_must_not_come_out_shared(lib):
    def build():
        model = counter(lib)
        return [model, model]

    with pytest.raises(ValueError, match=r"(?s)\[0\].*\[1\]"):
        lib.jit(build, graph=False)()


@both
def test_the_default_mode_is_read_when_the_function_is_decorated(lib):
    model = counter(lib)
    grows = lib.jit(lambda m: m)
    with lib.set_graph_updates(False):
        fixed = lib.jit(lambda m: m)
        assert grows(model) is model
    with pytest.raises(ValueError, match="count"):
        fixed(model)


@both
def test_trees_have_no_updates_whatever_is_asked(lib):
    with pytest.raises(ValueError, match="count"):
        lib.jit(lambda m: m, graph=False, graph_updates=True)(counter(lib))
