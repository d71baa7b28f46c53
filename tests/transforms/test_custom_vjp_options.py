"""`custom_vjp`: arguments without derivative, structure, methods, and what it refuses."""

from __future__ import annotations

import functools

import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.custom_rules import cotangent, of_result
from tests.transforms.gradient_models import (
    X,
    affine,
    affine_type,
    affine_values,
    bits,
    close,
    forward,
    paths,
)
from tests.transforms.jit_models import numbers
from tests.transforms.modes import all_modes, fixed_modes


@both
@all_modes
def test_arguments_without_derivative_come_first_to_the_rule(lib, mode):
    seen = []

    @functools.partial(lib.custom_vjp, nondiff_argnums=(0, 2), **mode)
    def function(name, x, factor):
        assert (name, type(factor)) == ("cube", int)
        return x**3

    def fwd(name, x, factor):
        return function(name, x, factor), x

    def bwd(name, factor, x, g):
        seen.append((name, factor))
        return (x * factor * of_result(mode, g),)

    function.defvjp(fwd, bwd)
    close(lib.grad(lambda x: function("cube", x, 5), **mode)(jnp.array(2.0)), jnp.array(10.0))
    assert seen == [("cube", 5)]


@both
@fixed_modes
def test_a_module_without_derivative_comes_to_the_rule(lib, mode):
    @functools.partial(lib.custom_vjp, nondiff_argnums=(0,), **mode)
    def function(model, x):
        return model(x)

    def fwd(model, x):
        return function(model, x), x

    def bwd(model, x, g):
        return (model.shift[...] * x * g,)

    function.defvjp(fwd, bwd)
    found = lib.grad(lambda m, x: function(m, x), argnums=1, **mode)(affine(lib), X)
    close(found, 0.5 * X)
    model = affine(lib)
    function(model, X)
    assert numbers(model.calls) == 1.0


def chosen(lib, wanted):
    """Make a rule for a part of an Affine only: the rule returns a State of that part."""
    diff = lib.DiffState(0, wanted)

    @functools.partial(lib.custom_vjp, nondiff_argnums=(diff,))
    def function(model, x):
        return model(x)

    def fwd(model, x):
        return function(model, x), (model.kernel[...], x)

    def bwd(kept, g):
        (by_model, by_x), by_result = g
        assert by_x is None
        assert paths(lib, by_model) == {("kernel",), ("shift",), ("calls",)}
        made = affine(lib)
        made.kernel[...], made.shift[...] = kept[0] * by_result, by_result
        return lib.state(made, wanted), kept[1]

    function.defvjp(fwd, bwd)
    return function


@both
def test_diff_state_chooses_what_the_rule_is_for(lib):
    model = affine(lib)
    function = chosen(lib, lib.Param)
    by_model, by_x = lib.grad(lambda m, x: function(m, x), argnums=(0, 1))(model, X)
    close(by_model.kernel[...], affine_values()["kernel"])
    close(by_model.shift[...], jnp.array(1.0))
    close(by_x, X)
    assert numbers(model.calls) == 1.0


@both
def test_diff_state_by_path(lib):
    function, part = chosen(lib, lib.PathContains("kernel")), lib.PathContains("kernel")
    wrt = lib.DiffState(0, part)
    found = lib.grad(lambda m, x: function(m, x), argnums=wrt)(affine(lib), X)
    assert paths(lib, found) == {("kernel",)}
    close(found.kernel[...], affine_values()["kernel"])


@both
@fixed_modes
def test_diff_state_needs_structural_updates(lib, mode):
    with pytest.raises(ValueError, match="DiffState"):
        lib.custom_vjp(lambda m: m(X), nondiff_argnums=(lib.DiffState(0, lib.Param),), **mode)


@both
def test_one_model_may_be_two_arguments(lib):
    function = lib.custom_vjp(lambda a, b: a(X) * b.shift[...])

    def bwd(kept, g):
        (_, second), result = g
        assert not second
        return cotangent(lib, {}, kept, jnp.ones(3), result * 5), second

    function.defvjp(lambda a, b: (function(a, b), a.calls[...]), bwd)
    model = affine(lib)
    close(function(model, model), 0.5 * forward(affine_values(), X))
    found = lib.grad(lambda m: function(m, m))(model)
    close(found.shift[...], jnp.array(5.0))
    assert numbers(model.calls) == 2.0


@both
@pytest.mark.parametrize("under_grad", [False, True])
def test_structure_may_change_inside(lib, under_grad):
    def change(model, x):
        model.new = lib.Param(x * 2)
        model.name = "other"
        return model(x)

    function = lib.custom_vjp(change)
    function.defvjp(
        lambda model, x: (function(model, x), (model.calls[...], x)),
        lambda kept, g: (cotangent(lib, {}, kept[0], jnp.ones(3), jnp.array(1.0)), kept[1]),
    )
    model = affine(lib)
    if under_grad:
        close(lib.grad(function, argnums=1)(model, X), X)
    else:
        function(model, X)
    close(model.new[...], X * 2)
    assert model.name == "other"
    assert numbers(model.calls) == 1.0


WRONG = {
    "too_few": lambda by_model: (by_model,),
    "too_many": lambda by_model: (by_model, X, X),
    "another_form": lambda by_model: (X, X),
    "another_shape": lambda by_model: (by_model, jnp.ones(2)),
}


@both
@all_modes
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_rule_must_return_a_cotangent_for_each_argument(lib, mode, wrong):
    function = lib.custom_vjp(lambda model, x: model(x), **mode)

    def bwd(calls, g):
        return wrong(cotangent(lib, mode, calls, jnp.ones(3), jnp.array(1.0)))

    function.defvjp(lambda model, x: (model(x), model.calls[...]), bwd)
    model = affine(lib)
    before = bits(model)
    with pytest.raises((TypeError, ValueError)):
        lib.grad(function, argnums=(0, 1), **mode)(model, X)
    assert bits(model) == before


@both
@all_modes
def test_without_a_rule_a_call_is_an_error(lib, mode):
    function = lib.custom_vjp(lambda model: model(X), **mode)
    model = affine(lib)
    before = bits(model)
    with pytest.raises((ValueError, AttributeError)):
        function(model)
    assert bits(model) == before


@all_modes
def test_it_decorates_methods(mode):
    class Model(affine_type(nnx)):  # type: ignore[misc]  # a type that is made for a library
        @nnx.custom_vjp(**mode)
        def loss(self, x):
            return self(x)

    def bwd(kept, g):
        made = Model()
        made.shift[...], made.calls[...] = jnp.array(10.0) * of_result(mode, g), kept[0]
        return (made if mode else nnx.state(made)), kept[1]

    Model.loss.defvjp(lambda model, x: (model.loss(x), (model.calls[...], x)), bwd)
    model = Model()
    close(model.loss(X), forward(affine_values(), X))
    found = nnx.grad(lambda m, x: m.loss(x), argnums=(0, 1), **mode)(model, X)
    close(found[0].shift[...], jnp.array(10.0))
    close(found[1], X)
    assert numbers(model.calls) == 2.0
