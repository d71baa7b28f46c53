"""`grad` of functions that close over Modules: found, changed in place, with no gradient of their own."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.gradient_models import (
    X,
    affine,
    affine_values,
    bits,
    close,
    forward,
    like_affine,
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
@in_each_way
def test_later_changes_from_outside_are_seen(modes, way):
    model = affine(nnx)
    slope = nnx.grad(way(model), **modes)
    slope(X)
    model.kernel[...] = jnp.ones(3)
    model.shift = nnx.Param(jnp.array(-1.0))
    values = {"kernel": jnp.ones(3), "shift": jnp.array(-1.0)}
    close(slope(X), jax.grad(forward, argnums=1)(values, X))
    assert numbers(model.calls) == 2.0


@both
@in_each_mode
@in_each_way
def test_what_is_closed_over_can_be_read(lib, modes, way):
    if lib is not nnx and way in (by_bound_method, by_keyword_default):
        pytest.skip("NNX refuses bound methods, and in its default mode keyword-only parameters")
    model = quiet_type(lib)()
    close(lib.grad(way(model), **modes)(X), jax.grad(forward, argnums=1)(affine_values(), X))


@functools.cache
def quiet_type(lib):
    class Quiet(type(affine(lib))):  # type: ignore[misc]  # the library is a parameter
        def __call__(self, x):
            return forward({"kernel": self.kernel[...], "shift": self.shift[...]}, x)

    return Quiet


@in_each_mode
def test_variables_can_be_closed_over(modes):
    factor, calls = nnx.Param(jnp.array(3.0)), nnx.BatchStat(jnp.array(0))

    def loss(x):
        calls[...] += 1
        return factor[...] * x**2

    close(nnx.grad(loss, **modes)(2.0), jnp.array(12.0))
    assert numbers(calls) == 1


@in_each_mode
def test_captures_are_not_differentiated_and_may_hold_integers(modes):
    rngs = nnx.Rngs(0)
    expected = jax.random.normal(nnx.Rngs(0).params())
    close(nnx.grad(lambda x: x * jax.random.normal(rngs.params()), **modes)(1.0), expected)
    assert numbers(rngs.params.count) == 1


def test_structure_of_what_is_closed_over_may_change():
    model = affine(nnx)

    def loss(x):
        model.new = nnx.Param(x * 2)
        del model.shift
        model.name = "other"
        return jnp.sum(model.kernel[...] * x)

    nnx.grad(loss)(X)
    close(model.new[...], X * 2)
    assert not hasattr(model, "shift")
    assert model.name == "other"


@in_each_mode
def test_an_exception_leaves_what_is_closed_over_as_it_was(modes):
    model = affine(nnx)

    def loss(x):
        model(x)
        model.kernel[...] = x
        model.new = nnx.Param(x)
        raise KeyError("inside")

    before = bits(model)
    with pytest.raises(KeyError, match="inside"):
        nnx.grad(loss, **modes)(X)
    assert bits(model) == before


@pytest.mark.parametrize("modes", [{}, {"graph_updates": False}], ids=["graph", "fixed"])
def test_what_is_also_another_argument_is_one_object(modes):
    model = affine(nnx)

    def loss(x, other):
        assert other is model
        model.calls[...] += 10.0
        return other(x)

    nnx.grad(loss, **modes)(X, model)
    assert numbers(model.calls) == 11.0


@pytest.mark.parametrize("modes", [{}, {"graph_updates": False}], ids=["graph", "fixed"])
def test_what_is_also_differentiated_gets_the_gradient_of_both_uses(modes):
    model = affine(nnx)

    def loss(other):
        assert other is model
        return model(X) * other(X)

    found = nnx.grad(loss, **modes)(model)
    like_affine(found, jax.grad(lambda v: forward(v, X) ** 2)(affine_values()))
    assert numbers(model.calls) == 2.0


@in_each_mode
def test_captures_pass_through_nested_gradients(modes):
    model = affine(nnx)
    slope = nnx.grad(lambda x: model(x * X), **modes)
    curvature = nnx.grad(lambda x: slope(x), **modes)
    expected = jax.grad(jax.grad(lambda x: forward(affine_values(), x * X)))(2.0)
    close(curvature(2.0), expected)
    assert numbers(model.calls) == 1.0


@in_each_mode
def test_captures_pass_through_jit(modes):
    model = affine(nnx)
    step = nnx.jit(lambda x: nnx.grad(lambda x: model(x), **modes)(x), **modes)
    step(X)
    close(step(X), jax.grad(forward, argnums=1)(affine_values(), X))
    assert numbers(model.calls) == 2.0


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
