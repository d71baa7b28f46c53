"""`grad`: gradients are those of `jax.grad`, and the model is left as the plain function leaves it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.gradient_models import (
    X,
    affine,
    affine_type,
    affine_values,
    close,
    forward,
    like_affine,
    paths,
    stack,
    stack_forward,
    stack_type,
    stack_values,
)
from tests.transforms.jit_models import numbers
from tests.transforms.modes import all_modes, fixed_modes

# The oracle wants `sow` inside `capture`.
pytestmark = pytest.mark.filterwarnings("ignore:Using 'Module.sow")


each_way = pytest.mark.parametrize("way", ["grad", "value_and_grad", "vjp"])


def slopes(lib, way, loss, argument, mode):
    """Return the gradient of a loss by its argument."""
    if way == "vjp":
        if lib is not nnx and not mode:
            pytest.skip("NNX has no vjp where structures may change")
        value, pull = lib.vjp(loss, argument, **mode)
        return pull(jnp.ones_like(value))[0]
    found = getattr(lib, way)(loss, **mode)(argument)
    return found if way == "grad" else found[1]


@both
@all_modes
def test_the_gradient_is_the_one_of_jax(lib, mode):
    expected = jax.grad(forward)(affine_values(), X)
    like_affine(lib.grad(lambda model: model(X), **mode)(affine(lib)), expected)


@both
def test_by_a_module_it_is_a_state_of_its_params(lib):
    gradients = lib.grad(lambda model: model(X))(stack(lib))
    assert type(gradients) is lib.State
    names = {(a, b) for a in ("first", "second") for b in ("kernel", "shift")}
    assert paths(lib, gradients) == names


@both
@each_way
@fixed_modes
def test_with_fixed_structure_it_is_a_module_with_all_values(lib, mode, way):
    model = stack(lib)
    gradients = slopes(lib, way, lambda model: model(X) + 3 * model.first.calls[...], model, mode)
    assert type(gradients) is stack_type(lib)
    assert type(gradients.first) is affine_type(lib)
    assert gradients.first.name == "affine"
    close(gradients.scale, stack_forward(stack_values(), X) / 2.0)
    close(gradients.first.calls[...], jnp.array(3.0))
    close(gradients.second.calls[...], jnp.array(0.0))


@both
@each_way
@all_modes
def test_gradients_have_the_type_and_metadata_of_the_variable(lib, mode, way):
    class Own(lib.Param):  # type: ignore[name-defined]  # the library is a parameter
        pass

    model = affine(lib)
    model.kernel = Own(jnp.ones(3), tag="own")
    gradients = slopes(lib, way, lambda model: model(X), model, mode)
    assert type(gradients.kernel) is Own
    assert gradients.kernel.tag == "own"
    assert type(gradients.shift) is lib.Param
    assert gradients.shift.tag == "t"
    assert gradients.kernel is not model.kernel


@both
@each_way
@all_modes
@pytest.mark.parametrize("kind", ["Param", "BatchStat", "Variable"])
def test_by_a_variable_of_any_type_it_is_a_variable_of_that_type(lib, mode, way, kind):
    gradient = slopes(lib, way, lambda v: v[...] ** 3, getattr(lib, kind)(jnp.array(2.0)), mode)
    assert type(gradient) is getattr(lib, kind)
    close(gradient[...], jnp.array(12.0))


@both
@each_way
@all_modes
def test_by_a_state_it_is_a_state_of_all_its_variables(lib, mode, way):
    state = lib.state(affine(lib))
    gradients = slopes(
        lib, way, lambda s: s["shift"][...] ** 2 * (s["calls"][...] + 4), state, mode
    )
    assert type(gradients) is lib.State
    assert paths(lib, gradients) == {("kernel",), ("shift",), ("calls",)}
    close(gradients["shift"][...], jnp.array(4.0))
    close(gradients["calls"][...], jnp.array(0.25))


@both
@all_modes
def test_by_arrays_and_floats_it_is_an_array(lib, mode):
    close(lib.grad(lambda x: x**3, **mode)(jnp.array(2.0)), jnp.array(12.0))
    close(lib.grad(lambda x: x**3, **mode)(2.0), jnp.array(12.0))
    found = lib.grad(lambda d: d["a"] * d["b"][0], **mode)({"a": 2.0, "b": (jnp.array(5.0),)})
    assert {"a": float(found["a"]), "b": tuple(map(float, found["b"]))} == {"a": 5.0, "b": (2.0,)}


@both
@all_modes
def test_modules_in_containers_are_replaced_by_their_gradients(lib, mode):
    def loss(inputs):
        return inputs["models"][0](X) * inputs["factor"] + inputs["models"][1](X)

    models = (affine(lib), affine(lib, 2.0))
    inputs = {"models": models, "factor": jnp.array(3.0)}
    found = lib.grad(loss, **mode)(inputs)
    expected = jax.grad(forward)(affine_values(), X)
    like_affine(found["models"][0], {k: 3.0 * v for k, v in expected.items()})
    like_affine(found["models"][1], jax.grad(forward)(affine_values(2.0), X))
    close(found["factor"], forward(affine_values(), X))
    assert [numbers(m.calls) for m in models] == [1.0, 1.0]
    assert type(found["models"]) is tuple


@both
@all_modes
def test_variables_can_hold_containers(lib, mode):
    values = {"a": jnp.array(2.0), "b": jnp.array(3.0)}
    found = lib.grad(lambda v: v.get_value()["a"] * v.get_value()["b"] ** 2, **mode)(
        lib.Param(values)
    )
    assert {k: float(v) for k, v in found.get_value().items()} == {"a": 9.0, "b": 12.0}


@both
def test_modules_without_params_have_an_empty_gradient(lib):
    found = lib.grad(lambda rngs: jnp.array(1.0))(lib.Rngs(0))
    assert type(found) is lib.State
    assert not found


@both
@each_way
@all_modes
def test_the_gradient_is_by_the_value_at_the_start(lib, mode, way):
    weight = lib.Param(jnp.array(2.0))

    def loss(weight):
        weight[...] *= 10.0
        return weight[...] ** 2

    gradient = slopes(lib, way, loss, weight, mode)
    close(gradient[...], jnp.array(400.0))
    close(weight[...], jnp.array(20.0))
