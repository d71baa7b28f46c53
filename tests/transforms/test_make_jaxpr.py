"""`make_jaxpr`: the program of a function of models, as jax's own ClosedJaxpr."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.jit_models import bump, contents, counter, counter_type, numbers, pair

# flax makes a jaxpr only where structures may not change.
FIXED = [{"graph_updates": False}, {"graph": False, "graph_updates": False}]
each_fixed_mode = pytest.mark.parametrize("mode", FIXED, ids=["fixed", "tree"])


def primitives(jaxpr):
    return [str(equation.primitive) for equation in jaxpr.eqns]


def inputs(jaxpr):
    """Return shape and kind of each input, in no order."""
    return sorted((aval.shape, aval.dtype.kind) for aval in jaxpr.in_avals)


@both
@each_fixed_mode
def test_the_jaxpr_of_plain_arrays_is_that_of_jax(lib, mode):
    def function(x, y):
        return {"a": x * 2 + y, "b": jnp.sin(y)}

    x = jnp.ones(3)
    found = lib.make_jaxpr(function, **mode)(x, y=x)
    assert str(found) == str(jax.make_jaxpr(function)(x, y=x))
    assert type(found) is type(jax.make_jaxpr(function)(x, x))


@both
@each_fixed_mode
def test_the_inputs_are_the_values_and_the_outputs_the_result(lib, mode):
    model = counter(lib)
    before = contents(lib, lib.clone(model))
    jaxpr = lib.make_jaxpr(bump, **mode)(model, 2)
    assert inputs(jaxpr) == [((), "i"), ((), "i"), ((3,), "f")]
    assert [aval.shape for aval in jaxpr.out_avals] == [(3,)]
    assert contents(lib, model) == before


@both
@each_fixed_mode
def test_the_jaxpr_computes_the_result(lib, mode):
    jaxpr = lib.make_jaxpr(lambda m: m.kernel[...] * 2 + 1, **mode)(counter(lib))
    given = [
        np.array([1.0, 2, 3], np.float32) if aval.shape else np.int32(0) for aval in jaxpr.in_avals
    ]
    (result,) = jax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *given)
    assert numbers(result) == [3, 5, 7]


@both
@each_fixed_mode
@pytest.mark.parametrize("number", [1, (1,)], ids=str)
def test_static_arguments_are_python_values(lib, mode, number):
    def step(model, k):
        assert type(k) is int
        return model.kernel[...] * k

    jaxpr = lib.make_jaxpr(step, static_argnums=number, **mode)(counter(lib), 2)
    assert inputs(jaxpr) == [((), "i"), ((3,), "f")]
    assert primitives(jaxpr) == ["mul"]


@both
@each_fixed_mode
def test_abstract_models_have_a_jaxpr(lib, mode):
    abstract = lib.eval_shape(counter_type(lib))
    real = lib.make_jaxpr(bump, **mode)(counter(lib), 2)
    assert str(lib.make_jaxpr(bump, **mode)(abstract, 2)) == str(real)


@both
@each_fixed_mode
@pytest.mark.parametrize("option", ["return_shape", "axis_env"])
def test_options_that_nnx_does_not_have_are_errors(lib, mode, option):
    with pytest.raises(TypeError, match=option):
        lib.make_jaxpr(bump, **{option: True}, **mode)


@both
def test_a_context_sets_the_mode(lib):
    with lib.set_graph_updates(False):
        assert primitives(lib.make_jaxpr(lambda m: m.kernel[...] * 2)(counter(lib))) == ["mul"]


def test_a_structural_change_inside_stays_inside():
    model = pair(nnx)
    before = contents(nnx, nnx.clone(model))

    def step(m):
        m.layers[0], m.layers[1] = m.layers[1], m.layers[0]
        m.new = nnx.Param(jnp.ones(1))
        return m.layers[0].kernel[...]

    jaxpr = nnx.make_jaxpr(step)(model)
    assert [aval.shape for aval in jaxpr.out_avals] == [(2,)]
    assert contents(nnx, model) == before
