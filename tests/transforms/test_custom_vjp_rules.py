"""`custom_vjp`: where later uses of an argument go, what rules keep, and what they are not for."""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.custom_rules import of_result, scaled
from tests.transforms.gradient_models import (
    X,
    affine,
    affine_values,
    close,
    forward,
)
from tests.transforms.jit_models import numbers
from tests.transforms.modes import all_modes, fixed_modes, shared_modes
from typed_nnx.errors import MissingRuleError


def later_use(lib, mode, change):
    """Give a rule that drops what comes from later uses of the weight, and use it later."""

    def plain(weight):
        if change:
            weight[...] = weight[...] * 1.0
        return weight[...] * 3.0

    function = lib.custom_vjp(plain, **mode)
    function.defvjp(
        lambda weight: (function(weight), None),
        lambda kept, g: (lib.Param(of_result(mode, g) * 100.0),),
    )
    found = lib.grad(lambda w: function(w) + w[...] * 7.0, **mode)(lib.Param(jnp.array(2.0)))
    return numbers(found[...])


@both
@pytest.mark.parametrize("change", [False, True])
def test_later_uses_of_an_argument_go_through_the_rule(lib, change):
    assert later_use(lib, {}, change) == 100.0


@both
@fixed_modes
def test_with_fixed_structure_only_later_uses_of_what_changed_do(lib, mode):
    assert later_use(lib, mode, change=False) == 107.0
    assert later_use(lib, mode, change=True) == 100.0


@shared_modes
def test_what_residuals_share_is_shared_in_the_rule(mode):
    shared: list[bool] = []
    function = nnx.custom_vjp(lambda x: x * 2.0, **mode)

    def fwd(x):
        model = affine(nnx)
        return x * 2.0, {"a": model, "b": [model.shift], "name": "n", "x": x}

    def bwd(kept, g):
        shared.append(kept["a"].shift is kept["b"][0])
        assert kept["name"] == "n"
        return (of_result(mode, g) * kept["x"],)

    function.defvjp(fwd, bwd)
    close(nnx.grad(function, **mode)(jnp.array(5.0)), jnp.array(5.0))
    assert shared == [True]


@all_modes
def test_a_rule_may_close_over_modules(mode):
    other = affine(nnx)
    function = nnx.custom_vjp(lambda x: x * 2.0, **mode)
    function.defvjp(
        lambda x: (x * 2.0, None), lambda kept, g: (other.shift[...] * of_result(mode, g),)
    )
    gradient = nnx.grad(lambda x: function(x), **mode)
    close(gradient(jnp.array(1.0)), jnp.array(0.5))
    other.shift[...] = jnp.array(4.0)
    close(gradient(jnp.array(1.0)), jnp.array(4.0))
    step = nnx.jit(gradient, **mode)
    close(step(jnp.array(1.0)), jnp.array(4.0))
    other.shift[...] = jnp.array(6.0)
    close(step(jnp.array(1.0)), jnp.array(6.0))


@all_modes
@pytest.mark.parametrize("under_jit", [False, True])
def test_arrays_without_derivative_may_be_traced(mode, under_jit):
    function = nnx.custom_vjp(lambda x, y: x * y, nondiff_argnums=(1,), **mode)
    function.defvjp(lambda x, y: (x * y, None), lambda y, kept, g: (y * of_result(mode, g) * 10.0,))

    def step(x, y):
        return nnx.grad(lambda x: function(x, y), **mode)(x)

    run = jax.jit(step) if under_jit else step
    close(run(jnp.array(2.0), jnp.array(3.0)), jnp.array(30.0))


@all_modes
def test_a_derivative_that_a_rule_does_not_give_is_an_error(mode):
    def loss(model, x):
        function = nnx.custom_vjp(lambda x: model(x), **mode)
        function.defvjp(lambda x: (model(x), x), lambda x, g: (x,))
        return function(x)

    close(nnx.grad(loss, argnums=1, **mode)(affine(nnx), X), X)
    with pytest.raises(MissingRuleError, match="closes over"):
        nnx.grad(loss, **mode)(affine(nnx), X)
    function = nnx.custom_vjp(lambda m, x: m(x), nondiff_argnums=(0,), **mode)
    function.defvjp(lambda m, x: (m(x), x), lambda m, x, g: (x,))
    with pytest.raises(MissingRuleError, match=r"argument 0 \('m'\), which is in nondiff_argnums"):
        nnx.grad(function, **mode)(affine(nnx), X)


def test_a_derivative_by_what_a_diff_state_leaves_out_is_an_error():
    only = nnx.DiffState(0, nnx.PathContains("shift"))
    function = nnx.custom_vjp(lambda m, x: m(x), nondiff_argnums=(only,))
    function.defvjp(lambda m, x: (m(x), m.shift[...]), lambda kept, g: (None, None))
    with pytest.raises(MissingRuleError, match="DiffState"):
        nnx.grad(function)(affine(nnx), X)


@all_modes
def test_it_runs_in_transforms_of_jax_that_do_not_know_modules(mode):
    model = affine(nnx)
    function = nnx.custom_vjp(lambda m, x: m.shift[...] * jnp.sum(x), **mode)
    function.defvjp(
        lambda m, x: (function(m, x), x), lambda x, g: (None, 10.0 * x * of_result(mode, g))
    )
    close(jax.grad(lambda x: function(model, x))(X), 10.0 * X)
    assert numbers(model.shift) == 0.5


@all_modes
@pytest.mark.parametrize("transform", ["vmap", "remat", "scan"])
def test_it_is_used_in_other_transforms(mode, transform):
    function = scaled(nnx, mode)
    expected = jax.grad(lambda x: forward(affine_values(), x))(X) * 10.0

    def by_x(model, x):
        return nnx.grad(lambda x: function(model, x), **mode)(x)

    if transform == "remat":
        model = affine(nnx)
        wrapped = nnx.remat(lambda m, x: function(m, x), **mode)
        close(nnx.grad(wrapped, argnums=1, **mode)(model, X), expected)
        assert numbers(model.calls) == 1.0
        return
    apply: tp.Any = {"vmap": nnx.vmap, "scan": nnx.scan}[transform]
    mapped = apply(lambda x: by_x(affine(nnx), x), in_axes=0, out_axes=0, **mode)
    close(mapped(jnp.stack([X, X])), jnp.stack([expected, expected]))


@all_modes
def test_symbolic_zeros_show_what_is_differentiated(mode):
    seen: list[tp.Any] = []
    function = nnx.custom_vjp(lambda x, y: (x * y, y), **mode)

    def fwd(x, y):
        seen.extend([x.perturbed, y.perturbed])
        return (x.value * y.value, y.value), y.value

    def bwd(y, g):
        by_first, by_second = of_result(mode, g)
        seen.append(type(by_second) is jax.custom_derivatives.SymbolicZero)
        return by_first * y, None

    function.defvjp(fwd, bwd, symbolic_zeros=True)
    found = nnx.grad(lambda x: function(x, jnp.array(3.0))[0], **mode)(jnp.array(2.0))
    close(found, jnp.array(3.0))
    assert seen == [True, False, True]


@both
def test_default_arguments_get_cotangents_too(lib):
    function = lib.custom_vjp(lambda x, y=2.0: x * y)
    function.defvjp(lambda x, y: (x * y, y), lambda y, g: (g[1] * y * 10.0, None))
    close(lib.grad(lambda x: function(x))(jnp.array(3.0)), jnp.array(20.0))


@both
def test_under_vmap_what_is_broadcast_and_not_changed_stays_broadcast(lib):
    function = lib.custom_vjp(lambda weight, x: weight[...] * x)
    function.defvjp(
        lambda weight, x: (function(weight, x), x), lambda x, g: (lib.Param(x * g[1]), None)
    )
    weight = lib.Param(jnp.array(3.0))
    found = lib.vmap(function, in_axes=(None, 0))(weight, X)
    assert numbers(found) == numbers(3.0 * X)
    assert weight[...] == 3.0
