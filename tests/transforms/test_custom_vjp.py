"""`custom_vjp`: own rules are used, changes of Modules are seen, in `fwd` as in the function."""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.custom_rules import agrees, cotangent, expected_gradients, of_result, scaled
from tests.transforms.gradient_models import (
    X,
    affine,
    affine_type,
    affine_values,
    close,
    forward,
    paths,
)
from tests.transforms.jit_models import numbers
from tests.transforms.modes import all_modes, fixed_modes, shared_modes
from typed_nnx.errors import MissingRuleError


@both
@all_modes
@pytest.mark.parametrize(
    ("loss", "factor"),
    [
        (lambda function: lambda model, x: function(model, x) * 3.0, 3.0),
        (lambda function: lambda model, x: function(model, x=x), 1.0),
        (lambda function: function, 1.0),
    ],
    ids=["used", "by_keyword", "itself"],
)
def test_the_gradient_is_that_of_the_rule(lib, mode, loss, factor):
    model, loss = affine(lib), loss(scaled(lib, mode))
    value, found = lib.value_and_grad(loss, argnums=(0, 1), **mode)(model, X)
    close(value, factor * forward(affine_values(), X))
    agrees(found, expected_gradients(factor))
    assert numbers(model.calls) == 1.0


@pytest.mark.thorough
@both
def test_a_rule_gets_the_cotangents_of_changed_arguments_too(lib):
    seen: list[tp.Any] = []
    function = scaled(lib, {}, seen)

    def loss(model, x):
        return function(model, x) * 3.0 + model.calls[...] * 7.0

    lib.grad(loss, argnums=(0, 1))(affine(lib), X)
    [((by_model, by_x), by_result)] = seen
    assert type(by_model) is lib.State
    assert paths(lib, by_model) == {("kernel",), ("shift",), ("calls",)}
    close(by_model["calls"][...], jnp.array(7.0))
    close(by_model["kernel"][...], jnp.zeros(3))
    assert by_x is None
    close(by_result, jnp.array(3.0))


@both
@fixed_modes
def test_with_fixed_structure_a_rule_gets_the_cotangent_of_the_result(lib, mode):
    seen: list[tp.Any] = []
    function = scaled(lib, mode, seen)
    lib.grad(lambda m, x: function(m, x) * 3.0, **mode)(affine(lib), X)
    close(seen[0], jnp.array(3.0))


@both
@fixed_modes
@pytest.mark.parametrize("nondiff", [False, True], ids=["all differentiated", "with nondiff"])
def test_with_fixed_structure_cotangents_of_changes_come_as_updates_g(lib, mode, nondiff):
    seen: list[tp.Any] = []
    options = {"nondiff_argnums": (1,)} if nondiff else {}

    def plain(model, factor):
        model.calls[...] += factor * model.kernel[...].sum()
        return model.shift[...] * 2.0

    def fwd(model, factor):
        return function(model, factor), model.kernel[...]

    def bwd(*args, updates_g):
        *first, kernel, g = args
        assert first == ([5.0] if nondiff else [])
        by_model, by_factor = updates_g
        seen.append((type(by_model), by_model.kernel, by_model.shift, by_factor))
        close(by_model.calls[...], jnp.array(7.0))
        own = cotangent(lib, mode, kernel[0], kernel * by_model.calls[...], g)
        return (own,) if nondiff else (own, None)

    function = lib.custom_vjp(plain, **options, **mode)
    function.defvjp(fwd, bwd)

    def loss(model):
        return function(model, 5.0) * 3.0 + model.calls[...] * 7.0

    model = affine(lib)
    found = lib.grad(loss, **mode)(model)
    assert seen == [(type(model), None, None, None)]
    close(found.kernel[...], model.kernel[...] * 7.0)
    close(found.shift[...], jnp.array(3.0))
    close(model.calls[...], 5.0 * model.kernel[...].sum())


@both
@all_modes
def test_changes_in_fwd_are_seen_outside(lib, mode):
    function = lib.custom_vjp(lambda model, x: model(x), **mode)

    def fwd(model, x):
        model.calls[...] += 100.0
        return model(x), (model.calls[...], x)

    def bwd(kept, g):
        ones = cotangent(lib, mode, kept[0], jnp.ones(3), jnp.array(1.0))
        return ones, kept[1] * of_result(mode, g)

    function.defvjp(fwd, bwd)
    model = affine(lib)
    found = lib.grad(function, argnums=(0, 1), **mode)(model, X)
    assert numbers(model.calls) == 101.0
    close(found[0].kernel[...], jnp.ones(3))
    function(model, X)
    assert numbers(model.calls) == 102.0


@both
@all_modes
@pytest.mark.parametrize("kept", ["argument", "new"])
def test_modules_kept_for_the_rule_are_modules_there(lib, mode, kept):
    function = lib.custom_vjp(lambda model, x: model.shift[...] * jnp.sum(x), **mode)
    seen: list[tp.Any] = []

    def fwd(model, x):
        module = model if kept == "argument" else affine(lib)
        return model.shift[...] * jnp.sum(x), {"module": module, "x": x}

    def bwd(residuals, g):
        module, x = residuals["module"], residuals["x"]
        seen.append(type(module))
        shift = jnp.sum(x) * of_result(mode, g)
        by_model = cotangent(lib, mode, module.calls[...], module.kernel[...], shift)
        return by_model, module.shift[...] * x

    function.defvjp(fwd, bwd)
    by_model, by_x = lib.grad(function, argnums=(0, 1), **mode)(affine(lib), X)
    assert seen == [affine_type(lib)]
    close(by_model.kernel[...], affine_values()["kernel"])
    close(by_model.shift[...], jnp.sum(X))
    close(by_x, 0.5 * X)


@both
@all_modes
def test_results_may_be_containers_and_modules(lib, mode):
    @lib.custom_vjp(**mode)
    def function(x):
        return {"module": made(x), "x": (x,)}

    def made(x):
        module = affine(lib)
        module.shift[...] = jnp.sum(x)
        return module

    def bwd(kept, g):
        g = of_result(mode, g)
        return (10.0 * g["module"].shift[...] * kept + g["x"][0],)

    function.defvjp(lambda x: (function(x), x), bwd)
    assert type(function(X)["module"]) is affine_type(lib)

    def loss(x):
        result = function(x)
        return result["module"].shift[...] * 3.0 + jnp.sum(result["x"][0])

    close(lib.grad(loss, **mode)(X), 30.0 * X + 1.0)


@both
def test_a_result_that_is_the_argument_is_that_object(lib):
    function = lib.custom_vjp(lambda model: model)
    function.defvjp(
        lambda model: (model, model.calls[...]),
        lambda calls, g: (cotangent(lib, {}, calls, jnp.ones(3), g[0][0]["shift"][...] * 10),),
    )
    model = affine(lib)
    assert function(model) is model
    found = lib.grad(lambda m: function(m).shift[...] * 3)(model)
    close(found.shift[...], jnp.array(30.0))


@both
@all_modes
def test_variables_and_containers_can_be_arguments(lib, mode):
    @lib.custom_vjp(**mode)
    def function(inputs):
        return inputs["v"][...] * inputs["x"]

    def bwd(kept, g):
        g = of_result(mode, g)
        return ({"v": lib.Param(g * 7.0), "x": kept * g},)

    function.defvjp(lambda inputs: (function(inputs), inputs["v"][...]), bwd)
    inputs = {"v": lib.Param(jnp.array(2.0)), "x": jnp.array(3.0)}
    found = lib.grad(function, **mode)(inputs)
    assert type(found["v"]) is lib.Param
    close(found["v"][...], jnp.array(7.0))
    close(found["x"], jnp.array(2.0))


# -- later uses, residuals, other transforms --------------------------------------------------------


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
