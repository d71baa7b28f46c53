"""Functions that `vjp` returns, and the forms in which cotangents and tangents may be given."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.gradient_models import X, affine, affine_type, affine_values, close, forward
from tests.transforms.modes import all_modes
from typed_nnx.errors import SharedReferenceError, TangentStructureError


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
