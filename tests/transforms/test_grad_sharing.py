"""`grad` of Variables that are reached on several paths: they get the sum, or an error says why not."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from tests.core.libraries import both
from tests.transforms.gradient_models import (
    X,
    affine,
    affine_values,
    bits,
    close,
    forward,
    like_affine,
    paths,
    stack,
    stack_forward,
    stack_values,
)
from tests.transforms.jit_models import numbers
from tests.transforms.modes import all_modes, shared_modes


def tied(lib):
    model = lib.Module()
    model.z = lib.Param(jnp.array(2.0))
    model.a = model.z
    return model


def loss(model):
    return model.a[...] * model.z[...] ** 2


@both
def test_the_sum_stands_at_the_first_path(lib):
    gradients = lib.grad(loss)(tied(lib))
    assert paths(lib, gradients) == {("a",)}
    close(gradients["a"][...], jnp.array(12.0))


@both
def test_with_fixed_structure_the_gradients_are_shared_too(lib):
    gradients = lib.grad(loss, graph_updates=False)(tied(lib))
    assert gradients.a is gradients.z
    close(gradients.a[...], jnp.array(12.0))


@both
def test_by_two_arguments_the_sum_comes_with_the_first(lib):
    model = affine(lib)
    first, second = lib.grad(lambda a, b: a(X) * b(X), argnums=(0, 1))(model, model)
    expected = jax.grad(lambda v: forward(v, X) ** 2)(affine_values())
    like_affine(first, expected)
    assert type(second) is lib.State
    assert not second
    assert numbers(model.calls) == 2.0


@both
def test_with_fixed_structure_both_arguments_have_the_sum(lib):
    model = affine(lib)
    first, second = lib.grad(lambda a, b: a(X) * b(X), argnums=(0, 1), graph_updates=False)(
        model, model
    )
    assert first.kernel is second.kernel
    like_affine(first, jax.grad(lambda v: forward(v, X) ** 2)(affine_values()))


@both
def test_a_part_may_be_a_second_argument(lib):
    model = stack(lib)
    whole, part = lib.grad(lambda a, b: a(X) * b(X), argnums=(0, 1))(model, model.first)

    def functional(values):
        return stack_forward(values, X) * forward(values["first"], X)

    like_affine(whole.first, jax.grad(functional)(stack_values())["first"])
    assert not part


@both
@shared_modes
@pytest.mark.parametrize("argnums", [0, 1])
def test_one_model_cannot_be_chosen_and_not(lib, mode, argnums):
    model = affine(lib)
    before = bits(model)
    with pytest.raises(ValueError, match=r"(?s)(kernel|calls).*\1"):
        lib.grad(lambda a, b: a(X) * b(X), argnums=argnums, **mode)(model, model)
    assert bits(model) == before


@both
@all_modes
def test_one_array_twice_is_two_inputs(lib, mode):
    x = jnp.array(2.0)
    close(lib.grad(lambda a, b: a * b**2, **mode)(x, x), jnp.array(4.0))
