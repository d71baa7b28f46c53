"""`grad` of functions that close over Modules: found, changed in place, with no gradient of their own."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.transforms.gradient_models import (
    X,
    affine,
    affine_values,
    close,
    forward,
)
from tests.transforms.jit_models import in_each_mode, numbers


def by_free_variable(model):
    return lambda x: model(x)


def by_default_argument(model):
    return lambda x, model=model: model(x)


def by_keyword_default(model):
    return lambda x, *, model=model: model(x)


def by_partial(model):
    return functools.partial(lambda model, x: model(x), model)


def by_partial_keyword(model):
    return functools.partial(lambda x, model: model(x), model=model)


def by_bound_method(model):
    return model.__call__


def by_itself(model):
    return model


def by_inner_function(model):
    def inner(x):
        return model(x)

    return lambda x: inner(x)


WAYS = [
    by_free_variable,
    by_default_argument,
    by_keyword_default,
    by_partial,
    by_partial_keyword,
    by_bound_method,
    by_itself,
    by_inner_function,
]
in_each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


@in_each_mode
@in_each_way
def test_what_is_closed_over_is_changed_in_place(modes, way):
    model = affine(nnx)
    value, found = nnx.value_and_grad(way(model), **modes)(X)
    close(value, forward(affine_values(), X))
    close(found, jax.grad(forward, argnums=1)(affine_values(), X))
    assert numbers(model.calls) == 1.0


@in_each_mode
def test_captures_are_not_differentiated_and_may_hold_integers(modes):
    rngs = nnx.Rngs(0)
    expected = jax.random.normal(nnx.Rngs(0).params())
    close(nnx.grad(lambda x: x * jax.random.normal(rngs.params()), **modes)(1.0), expected)
    assert numbers(rngs.params.count) == 1


@in_each_mode
def test_captures_pass_through_nested_gradients(modes):
    model = affine(nnx)
    slope = nnx.grad(lambda x: model(x * X), **modes)
    curvature = nnx.grad(lambda x: slope(x), **modes)
    expected = jax.grad(jax.grad(lambda x: forward(affine_values(), x * X)))(2.0)
    close(curvature(2.0), expected)
    assert numbers(model.calls) == 1.0


COUNTER = nnx.BatchStat(jnp.array(0))


@pytest.mark.thorough
@in_each_mode
def test_globals_are_read_but_not_changed(modes):
    def read(x):
        return x * COUNTER[...]

    def write(x):
        COUNTER[...] += 1
        return x

    close(nnx.grad(read, **modes)(1.0), jnp.array(0.0))
    with pytest.raises(nnx.errors.TraceLevelError):
        nnx.grad(write, **modes)(1.0)
    assert numbers(COUNTER) == 0
