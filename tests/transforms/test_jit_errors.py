"""`jit`: what is an error, and that an error leaves the models as they were; what the modes demand."""

from __future__ import annotations

import re
import typing as tp

import jax
import jax.numpy as jnp
import pytest
from flax import errors as flax_errors

from tests.core.libraries import both
from tests.transforms.jit_models import bump, contents, count_of, counter, numbers
from tests.transforms.modes import all_modes
from typed_nnx.errors import TraceLevelError

TRACE_ERRORS = (TraceLevelError, flax_errors.TraceContextError)


GLOBALS: dict[tp.Any, tp.Any] = {}


@pytest.mark.thorough
@both
@all_modes
@pytest.mark.parametrize(
    "mutate",
    [lambda m: bump(m), lambda m: setattr(m, "mode", "eval"), lambda m: setattr(m, "new", 1)],
    ids=["value", "static_attribute", "new_attribute"],
)
def test_mutating_a_global_model_is_an_error(lib, mode, mutate):
    GLOBALS[lib] = counter(lib)
    before = contents(lib, lib.clone(GLOBALS[lib]))

    def step(x):
        mutate(GLOBALS[lib])
        return x

    with pytest.raises(TRACE_ERRORS, match="trace level"):
        lib.jit(step, **mode)(1.0)
    assert contents(lib, GLOBALS[lib]) == before


@both
@all_modes
def test_a_global_model_may_be_read(lib, mode):
    GLOBALS[lib] = counter(lib)
    assert numbers(lib.jit(lambda x: GLOBALS[lib].kernel[...] * x, **mode)(2.0)) == [2, 4, 6]


@both
@all_modes
def test_a_leaked_tracer_is_an_error_where_it_is_used(lib, mode):
    leaked = []
    model = counter(lib)

    def leak(m):
        leaked.append(m)
        bump(m)

    lib.jit(leak, **mode)(model)
    assert leaked[0] is not model
    with pytest.raises(jax.errors.UnexpectedTracerError):
        jnp.sin(leaked[0].count[...])
    assert count_of(model) == 1


@both
@all_modes
def test_wrong_arguments_raise_the_error_of_the_function(lib, mode):
    step = lib.jit(bump, **mode)
    with pytest.raises(TypeError, match=re.escape("missing 1 required positional argument")):
        step()
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        step(counter(lib), y=1)


# -- `jit`: what `graph=False` and `graph_updates=False` demand, and when a mode is read ------------
