"""`vjp` and `jvp` by Modules: the numbers are those of jax, the model is changed once."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.gradient_models import (
    X,
    affine,
    affine_type,
    affine_values,
    bits,
    close,
    forward,
    like_affine,
    stack,
    stack_forward,
    stack_values,
)
from tests.transforms.jit_models import numbers
from tests.transforms.modes import MODES, all_modes, fixed_modes
from typed_nnx.errors import SharedReferenceError, TangentStructureError


def call(model, x):
    return model(x)


def tangent_of(lib, kernel=1.0, shift=2.0, calls=0.0):
    """Make a tangent of an Affine."""
    tangent = affine(lib)
    tangent.kernel[...] = jnp.full(3, kernel)
    tangent.shift[...] = jnp.array(shift)
    tangent.calls[...] = jnp.array(calls)
    return tangent


def plain_tangent(kernel=1.0, shift=2.0):
    return {"kernel": jnp.full(3, kernel), "shift": jnp.array(shift)}


# NNX has neither in its default mode. Ours works there as well; which Variables the gradients hold
# beside Params is not looked at, so each law runs in every mode for us and in two for the oracle.
CASES = [
    pytest.param(lib, mode, id=f"{name}-{kind}")
    for name, lib in (("ours", nnx), ("flax", flax_nnx))
    for kind, mode in MODES.items()
    if lib is nnx or mode
]
in_each_library = pytest.mark.parametrize(("lib", "mode"), CASES)


@in_each_library
def test_vjp_is_the_one_of_jax(lib, mode):
    model = affine(lib)
    out, pull = lib.vjp(call, model, X, **mode)
    expected_out, expected_pull = jax.vjp(forward, affine_values(), X)
    close(out, expected_out)
    for cotangent in (1.0, -2.0):
        found = pull(jnp.array(cotangent))
        assert type(found) is tuple
        by_model, by_x = found
        expected_model, expected_x = expected_pull(jnp.array(cotangent))
        like_affine(by_model, expected_model)
        close(by_x, expected_x)
    assert numbers(model.calls) == 1.0


@both
@fixed_modes
def test_vjp_gives_integers_no_gradient(lib, mode):
    model = affine(lib)
    model.rngs = lib.Rngs(0)
    _, pull = lib.vjp(lambda m, n: m(X) * n.astype(jnp.float32), model, jnp.array([3])[0], **mode)
    by_model, by_number = pull(jnp.array(1.0))
    assert np.asarray(by_number).dtype == jax.dtypes.float0
    assert np.asarray(by_model.rngs.params.count.get_raw_value()).dtype == jax.dtypes.float0
    like_affine(by_model, jax.grad(lambda v: 3 * forward(v, X))(affine_values()))


@in_each_library
def test_vjp_carries_aux(lib, mode):
    model = affine(lib)
    found = lib.vjp(lambda m, x: (m(x), {"x": x, "n": 3}), model, X, has_aux=True, **mode)
    out, pull, aux = found
    close(out, forward(affine_values(), X))
    assert (aux["x"] == X).all()
    assert aux["n"] == 3
    like_affine(pull(jnp.array(1.0))[0], jax.grad(forward)(affine_values(), X))
    assert numbers(model.calls) == 1.0


@in_each_library
def test_vjp_refuses_a_cotangent_of_another_form(lib, mode):
    _, pull = lib.vjp(call, affine(lib), X, **mode)
    for wrong in (jnp.ones(3), (jnp.array(1.0),), jnp.array(1)):
        with pytest.raises((TypeError, ValueError)):
            pull(wrong)


@in_each_library
def test_jvp_agrees_with_vjp(lib, mode):
    model = stack(lib)
    ones = jax.tree.map(jnp.ones_like, model)
    _, slope = lib.jvp(call, (model, X), (ones, jnp.ones(3)), **mode)
    _, pull = jax.vjp(stack_forward, stack_values(), X)
    parts = jax.tree.leaves(pull(jnp.array(1.0)))
    by_scale = stack_forward(stack_values(), X) / 2.0
    np.testing.assert_allclose(slope, sum(jnp.sum(p) for p in parts) + by_scale, rtol=1e-5)


@in_each_library
def test_jvp_carries_aux(lib, mode):
    def loss(model, x):
        return model(x), {"x": x, "n": 3}

    primals, tangents = (affine(lib), X), (tangent_of(lib), X)
    out, slope, aux = lib.jvp(loss, primals, tangents, has_aux=True, **mode)
    expected = jax.jvp(forward, (affine_values(), X), (plain_tangent(), X))
    close(out, expected[0])
    close(slope, expected[1])
    assert (aux["x"] == X).all()
    assert aux["n"] == 3


@in_each_library
def test_jvp_takes_containers_states_and_variables(lib, mode):
    def product(inputs, variable):
        return {"y": inputs["m"](inputs["x"]) * variable[...]}

    primals = {"m": affine(lib), "x": X}, lib.Param(jnp.array(3.0))
    tangents = {"m": tangent_of(lib), "x": X}, lib.Param(jnp.array(5.0))
    out, slope = lib.jvp(product, primals, tangents, **mode)
    expected = jax.jvp(
        lambda values, x, v: forward(values, x) * v,
        (affine_values(), X, jnp.array(3.0)),
        (plain_tangent(), X, jnp.array(5.0)),
    )
    close(out["y"], expected[0])
    close(slope["y"], expected[1])
    state = lib.state(affine(lib))
    out, slope = lib.jvp(lambda s: s["shift"][...] ** 2, (state,), (state,), **mode)
    assert (float(out), float(slope)) == (0.25, 0.5)


@in_each_library
def test_modules_and_variables_can_be_results_of_jvp(lib, mode):
    def double(model):
        return {"v": lib.Param(model.shift[...] ** 2), "m": affine(lib)}

    outs, slopes = lib.jvp(double, (affine(lib),), (tangent_of(lib),), **mode)
    assert type(outs["v"]) is type(slopes["v"]) is lib.Param
    close(outs["v"][...], jnp.array(0.25))
    close(slopes["v"][...], jnp.array(2.0))
    assert type(slopes["m"]) is affine_type(lib)
    close(slopes["m"].kernel[...], jnp.zeros(3))


@in_each_library
def test_a_variable_reached_twice_moves_once(lib, mode):
    if mode == {"graph": False}:
        pytest.skip("no shared references in trees")
    model, tangent = lib.Module(), lib.Module()
    model.a = model.b = lib.Param(jnp.array(2.0))
    tangent.a = tangent.b = lib.Param(jnp.array(1.0))

    def loss(model):
        return model.a[...] * model.b[...] ** 2

    out, slope = lib.jvp(loss, (model,), (tangent,), **mode)
    assert (float(out), float(slope)) == (8.0, 12.0)
    _, pull = lib.vjp(loss, model, **mode)
    close(pull(jnp.array(1.0))[0].a[...], jnp.array(12.0))


@in_each_library
def test_jvp_decorates(lib, mode):
    @lib.jvp(**mode)
    def decorated(model, x):
        return model(x)

    expected = jax.jvp(forward, (affine_values(), X), (plain_tangent(), X))
    primals, tangents = (affine(lib), X), (tangent_of(lib), X)
    for transformed in (decorated, lib.jvp(call, **mode)):
        close(transformed(primals, tangents)[1], expected[1])
    close(decorated(primals=primals, tangents=tangents)[0], expected[0])


WRONG = {
    "too_few": lambda lib: (tangent_of(lib),),
    "array_for_module": lambda lib: (jnp.array(1.0), X),
    "other_structure": lambda lib: (stack(lib), X),
    "shape": lambda lib: (tangent_of(lib), jnp.ones(2)),
    "dtype": lambda lib: (tangent_of(lib), jnp.ones(3, int)),
}


@in_each_library
@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG)
def test_jvp_refuses_tangents_of_another_form(lib, mode, make):
    model = affine(lib)
    before = bits(model)
    with pytest.raises((TypeError, ValueError)):
        lib.jvp(call, (model, X), make(lib), **mode)
    assert bits(model) == before


def test_vjp_results_that_are_the_argument_are_that_object():
    model = affine(nnx)
    _, pull, aux = nnx.vjp(lambda m: (m(X), m), model, has_aux=True)
    assert aux is model
    like_affine(pull(jnp.array(1.0))[0], jax.grad(forward)(affine_values(), X))


# -- pullbacks, and the forms of cotangents and tangents --------------------------------------------


def doubled(model):
    """Return a new Affine with twice the shift."""
    made = affine(nnx)
    made.shift[...] = model.shift[...] * 2.0
    return made


def zeros_but_shift(shift):
    made = jax.tree.map(jnp.zeros_like, affine(nnx))
    made.shift[...] = jnp.array(shift)
    return made


@all_modes
@pytest.mark.parametrize("form", ["module", "state"])
def test_the_cotangent_of_a_module_is_a_module_or_a_state(mode, form):
    out, pull = nnx.vjp(doubled, affine(nnx), **mode)
    assert type(out) is affine_type(nnx)
    cotangent = zeros_but_shift(3.0)
    (found,) = pull(cotangent if form == "module" else nnx.state(cotangent))
    close(found.shift[...], jnp.array(6.0))
    close(found.kernel[...], jnp.zeros(3))


@all_modes
def test_tangents_may_be_states(mode):
    tangent = nnx.state(zeros_but_shift(1.0))
    _, slope = nnx.jvp(doubled, (affine(nnx),), (tangent,), **mode)
    close(slope.shift[...], jnp.array(2.0))


@all_modes
def test_a_pullback_can_leave_jit(mode):
    model = affine(nnx)
    out, pull = jax.jit(lambda x: nnx.vjp(lambda x: model.shift[...] * x.sum(), x, **mode))(X)
    close(out, 0.5 * X.sum())
    close(pull(jnp.array(2.0))[0], jnp.ones(3))


@all_modes
def test_values_of_new_modules_are_those_of_arguments_too(mode):
    def moved(model):
        made = affine(nnx)
        made.rows = nnx.data([model.rows[0]])
        return made

    model = affine(nnx)
    model.rows = nnx.data([jnp.array(2.0)])
    out, pull = nnx.vjp(moved, model, **mode)
    close(out.rows[0], jnp.array(2.0))
    cotangent = zeros_but_shift(0.0)
    cotangent.rows = nnx.data([jnp.array(5.0)])
    close(pull(cotangent)[0].rows[0], jnp.array(5.0))


def test_a_result_that_is_met_twice_has_one_cotangent():
    def twice(x):
        made = nnx.Param(x * 2.0)
        return made, made

    (first, second), pull = nnx.vjp(twice, jnp.array(1.0))
    assert first is second
    cotangent = nnx.Param(jnp.array(3.0))
    close(pull((cotangent, cotangent))[0], jnp.array(6.0))
    with pytest.raises(TangentStructureError):
        pull((cotangent, nnx.Param(jnp.array(3.0))))


def attached(model):
    model.new = nnx.Param(model.shift[...])
    return model.new


def moved_into_another(model):
    made = affine(nnx)
    made.shift = model.shift
    return made


RETURNED = {
    "itself": lambda model: model,
    "inside": lambda model: [model.shift],
    "attached": attached,
    "moved": moved_into_another,
}


@pytest.mark.parametrize("function", RETURNED.values(), ids=RETURNED)
def test_a_result_that_belongs_to_an_argument_is_an_error(function):
    model = affine(nnx)
    with pytest.raises(SharedReferenceError):
        nnx.vjp(function, model)
    assert not hasattr(model, "new")


@all_modes
def test_a_variable_of_a_dict_that_is_closed_over_stays_as_it_is(mode):
    variable = nnx.Param({"a": jnp.array(2.0)})

    def product(x):
        return nnx.vjp(lambda v, x: v.get_value()["a"] * x, variable, x, **mode)[0]

    close(jax.jit(product)(jnp.array(3.0)), jnp.array(6.0))
    assert type(variable.get_value()["a"]) is type(X)


@both
@pytest.mark.parametrize("argnums", [1, [1], (1, 0)], ids=["one", "list", "swapped"])
def test_arguments_to_differentiate_by_may_be_given_by_name(lib, argnums):
    expected = jax.grad(forward, argnums=1)(affine_values(), X)
    found = lib.grad(lambda m, x: m(x), argnums=argnums)(affine(lib), x=X)
    close(found if argnums == 1 else found[0], expected)
