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
    bits,
    close,
    forward,
    like_affine,
    paths,
    stack,
    stack_forward,
    stack_type,
    stack_values,
)
from tests.transforms.jit_models import in_each_mode, in_fixed_modes, numbers
from typed_nnx.errors import StructureChangedError

# The oracle wants `sow` inside `capture`.
pytestmark = pytest.mark.filterwarnings("ignore:Using 'Module.sow")


@both
@in_each_mode
def test_the_gradient_is_the_one_of_jax(lib, modes):
    expected = jax.grad(forward)(affine_values(), X)
    like_affine(lib.grad(lambda model: model(X), **modes)(affine(lib)), expected)


@both
@in_each_mode
def test_value_and_gradient_come_together(lib, modes):
    value, gradients = lib.value_and_grad(lambda model: model(X), **modes)(affine(lib))
    expected_value, expected = jax.value_and_grad(forward)(affine_values(), X)
    close(value, expected_value)
    like_affine(gradients, expected)


@both
@in_each_mode
def test_the_gradient_of_nested_modules_is_nested(lib, modes):
    gradients = lib.grad(lambda model: model(X), **modes)(stack(lib))
    expected = jax.grad(stack_forward)(stack_values(), X)
    like_affine(gradients.first, expected["first"])
    like_affine(gradients.second, expected["second"])


@both
def test_by_a_module_it_is_a_state_of_its_params(lib):
    gradients = lib.grad(lambda model: model(X))(stack(lib))
    assert type(gradients) is lib.State
    names = {(a, b) for a in ("first", "second") for b in ("kernel", "shift")}
    assert paths(lib, gradients) == names


@both
@in_fixed_modes
def test_with_fixed_structure_it_is_a_module_with_all_values(lib, modes):
    model = stack(lib)
    gradients = lib.grad(lambda model: model(X) + 3 * model.first.calls[...], **modes)(model)
    assert type(gradients) is stack_type(lib)
    assert type(gradients.first) is affine_type(lib)
    assert gradients.first.name == "affine"
    close(gradients.scale, stack_forward(stack_values(), X) / 2.0)
    close(gradients.first.calls[...], jnp.array(3.0))
    close(gradients.second.calls[...], jnp.array(0.0))


@both
@in_each_mode
def test_gradients_have_the_type_and_metadata_of_the_variable(lib, modes):
    class Own(lib.Param):  # type: ignore[name-defined]  # the library is a parameter
        pass

    model = affine(lib)
    model.kernel = Own(jnp.ones(3), tag="own")
    gradients = lib.grad(lambda model: model(X), **modes)(model)
    assert type(gradients.kernel) is Own
    assert gradients.kernel.tag == "own"
    assert type(gradients.shift) is lib.Param
    assert gradients.shift.tag == "t"
    assert gradients.kernel is not model.kernel


@both
@in_each_mode
def test_gradients_can_be_changed_and_leave_the_model_alone(lib, modes):
    model = affine(lib)
    gradients = lib.grad(lambda model: model(X), **modes)(model)
    gradients.shift[...] = 7.0
    close(model.shift[...], jnp.array(0.5))


@both
@in_each_mode
@pytest.mark.parametrize("kind", ["Param", "BatchStat", "Variable"])
def test_by_a_variable_of_any_type_it_is_a_variable_of_that_type(lib, modes, kind):
    gradient = lib.grad(lambda v: v[...] ** 3, **modes)(getattr(lib, kind)(jnp.array(2.0)))
    assert type(gradient) is getattr(lib, kind)
    close(gradient[...], jnp.array(12.0))


@both
@in_each_mode
def test_by_a_state_it_is_a_state_of_all_its_variables(lib, modes):
    state = lib.state(affine(lib))
    gradients = lib.grad(lambda s: s["shift"][...] ** 2 * (s["calls"][...] + 4), **modes)(state)
    assert type(gradients) is lib.State
    assert paths(lib, gradients) == {("kernel",), ("shift",), ("calls",)}
    close(gradients["shift"][...], jnp.array(4.0))
    close(gradients["calls"][...], jnp.array(0.25))


@both
@in_each_mode
def test_by_arrays_and_floats_it_is_an_array(lib, modes):
    close(lib.grad(lambda x: x**3, **modes)(jnp.array(2.0)), jnp.array(12.0))
    close(lib.grad(lambda x: x**3, **modes)(2.0), jnp.array(12.0))
    found = lib.grad(lambda d: d["a"] * d["b"][0], **modes)({"a": 2.0, "b": (jnp.array(5.0),)})
    assert {"a": float(found["a"]), "b": tuple(map(float, found["b"]))} == {"a": 5.0, "b": (2.0,)}


@both
@in_each_mode
def test_modules_in_containers_are_replaced_by_their_gradients(lib, modes):
    def loss(inputs):
        return inputs["models"][0](X) * inputs["factor"] + inputs["models"][1](X)

    models = (affine(lib), affine(lib, 2.0))
    inputs = {"models": models, "factor": jnp.array(3.0)}
    found = lib.grad(loss, **modes)(inputs)
    expected = jax.grad(forward)(affine_values(), X)
    like_affine(found["models"][0], {k: 3.0 * v for k, v in expected.items()})
    like_affine(found["models"][1], jax.grad(forward)(affine_values(2.0), X))
    close(found["factor"], forward(affine_values(), X))
    assert [numbers(m.calls) for m in models] == [1.0, 1.0]
    assert type(found["models"]) is tuple


@both
@in_each_mode
def test_variables_can_hold_containers(lib, modes):
    values = {"a": jnp.array(2.0), "b": jnp.array(3.0)}
    found = lib.grad(lambda v: v.get_value()["a"] * v.get_value()["b"] ** 2, **modes)(
        lib.Param(values)
    )
    assert {k: float(v) for k, v in found.get_value().items()} == {"a": 9.0, "b": 12.0}


@both
def test_modules_without_params_have_an_empty_gradient(lib):
    found = lib.grad(lambda rngs: jnp.array(1.0))(lib.Rngs(0))
    assert type(found) is lib.State
    assert not found


@both
@in_each_mode
def test_changes_of_values_are_seen_outside(lib, modes):
    model, other = affine(lib), affine(lib)

    def loss(model, other):
        other.kernel[...] += model.kernel[...]
        other.calls[...] += 2.0
        return model(X)

    kernel = model.kernel
    lib.grad(loss, **modes)(model, other)
    assert numbers(model.calls) == 1.0
    assert numbers(other.calls) == 2.0
    close(other.kernel[...], affine_values(2.0)["kernel"])
    assert model.kernel is kernel


@both
@in_each_mode
def test_the_gradient_is_by_the_value_at_the_start(lib, modes):
    weight = lib.Param(jnp.array(2.0))

    def loss(weight):
        weight[...] *= 10.0
        return weight[...] ** 2

    gradient = lib.grad(loss, **modes)(weight)
    close(gradient[...], jnp.array(400.0))
    close(weight[...], jnp.array(20.0))


@both
@in_each_mode
def test_metadata_set_inside_is_seen_outside(lib, modes):
    model = affine(lib)
    lib.grad(lambda m: (m.calls.set_metadata("seen", 3), m(X))[1], **modes)(model)
    assert model.calls.seen == 3


CHANGES = {
    "param_added": lambda lib, m: setattr(m, "new", lib.Param(m.first.kernel[...] * 2)),
    "module_added": lambda lib, m: setattr(m.first, "new", affine(lib)),
    "param_removed": lambda lib, m: delattr(m.first, "kernel"),
    "param_replaced": lambda lib, m: setattr(m.first, "kernel", lib.Param(jnp.ones(2))),
    "static_changed": lambda lib, m: setattr(m.first, "name", "other"),
    "modules_swapped": lambda lib, m: _swap(m),
    "sown": lambda lib, m: m.sow(lib.Intermediate, "hidden", m.first.kernel[...]),
    "module_shared": lambda lib, m: setattr(m, "second", m.first),
}


def _swap(model):
    model.first, model.second = model.second, model.first


@both
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("differentiated", [True, False], ids=["chosen", "other"])
def test_structure_may_change_inside(lib, change, differentiated):
    def loss(model, x):
        y = model(x)
        change(lib, model)
        return y

    inside, outside = stack(lib), stack(lib)
    parts = {id(inside.first): "first", id(inside.second): "second"}
    gradient = lib.grad(loss, argnums=0 if differentiated else 1)(inside, X)
    loss(outside, X)
    (graphdef, state), (expected, expected_state) = lib.split(inside), lib.split(outside)
    assert graphdef == expected
    jax.tree.map(close, state, expected_state)
    swapped = [parts.get(id(m)) for m in (inside.first, inside.second)]
    order = {"modules_swapped": ["second", "first"], "module_shared": ["first", "first"]}
    name = next(key for key, value in CHANGES.items() if value is change)
    assert swapped == order.get(name, ["first", "second"])
    by_model, by_x = jax.grad(stack_forward, argnums=(0, 1))(stack_values(), X)
    if differentiated:
        like_affine(gradient.first, by_model["first"])
        like_affine(gradient.second, by_model["second"])
    else:
        close(gradient, by_x)


@both
def test_plain_arrays_assigned_inside_are_seen_outside(lib):
    model = stack(lib)

    def loss(model):
        model.scale = model.scale + model.first.shift[...]
        return model.scale**2

    gradients = lib.grad(loss)(model)
    close(gradients.first.shift[...], jnp.array(5.0))
    close(model.scale, jnp.array(2.5))


@in_fixed_modes
@pytest.mark.parametrize("name", ["param_added", "param_removed", "param_replaced"])
def test_with_fixed_structure_a_change_is_an_error_that_names_the_path(modes, name):
    model = stack(nnx)
    before = bits(model)
    place = {"param_added": "new", "param_removed": "kernel", "param_replaced": "kernel"}[name]
    with pytest.raises(StructureChangedError, match=place):
        nnx.grad(lambda m: (m(X), CHANGES[name](nnx, m))[0], **modes)(model)
    assert bits(model) == before


@both
@in_each_mode
def test_an_exception_inside_leaves_the_model_as_it_was(lib, modes):
    model, other = stack(lib), affine(lib)

    def loss(model, other):
        model(X), other(X)
        model.first.kernel[...] = jnp.ones(3)
        model.first.calls.set_metadata("seen", 1)
        model.new = lib.Param(jnp.ones(3))
        model.scale = jnp.array(9.0)
        del other.kernel
        raise KeyError("inside")

    before = bits(model), bits(other)
    with pytest.raises(KeyError, match="inside"):
        lib.grad(loss, argnums=(0, 1), **modes)(model, other)
    assert (bits(model), bits(other)) == before


@both
@in_each_mode
def test_a_loss_that_jax_refuses_leaves_the_model_as_it_was(lib, modes):
    model = affine(lib)
    before = bits(model)
    with pytest.raises(TypeError, match="scalar"):
        lib.grad(lambda model: model(X) * X, **modes)(model)
    assert bits(model) == before


@both
@in_each_mode
def test_random_numbers_are_those_of_the_plain_function(lib, modes):
    def loss(x, rngs):
        return jnp.sum(x * jax.random.normal(rngs.params(), (3,)))

    inside, outside = lib.Rngs(0), lib.Rngs(0)
    gradient = lib.grad(loss, **modes)(X, inside)
    close(gradient, jax.random.normal(outside.params(), (3,)))
    assert (inside.params() == outside.params()).all()


@both
def test_random_streams_of_the_model_need_no_filter(lib):
    model = affine(lib)
    model.rngs = lib.Rngs(0)
    lib.grad(lambda m: m(X) * jax.random.normal(m.rngs.params()))(model)
    assert numbers(model.rngs.params.count) == 1


@both
@in_each_mode
def test_gradients_nest(lib, modes):
    model = affine(lib)

    def slope(model):
        return lib.grad(lambda m: m(X), **modes)(model).shift[...]

    found = lib.grad(slope, **modes)(model).shift[...]
    values = affine_values()
    by_shift = jax.grad(lambda shift: forward({**values, "shift": shift}, X))
    close(found, jax.grad(by_shift)(values["shift"]))
    assert numbers(model.calls) == 1.0


@both
@in_each_mode
def test_gradients_can_be_compiled(lib, modes):
    model = affine(lib)
    step = lib.jit(lambda model, x: lib.value_and_grad(lambda m: m(x), **modes)(model), **modes)
    value, gradients = step(model, X)
    expected_value, expected = jax.value_and_grad(forward)(affine_values(), X)
    close(value, expected_value)
    like_affine(gradients, expected)
    assert numbers(model.calls) == 1.0


@both
@in_each_mode
def test_gradients_can_be_mapped(lib, modes):
    rows = jnp.stack([X, 2 * X])
    slope = lib.grad(lambda model, x: forward(vars_of(model), x), argnums=1, **modes)
    found = lib.vmap(slope, in_axes=(None, 0), **modes)(affine(lib), rows)
    close(found, jax.vmap(jax.grad(forward, argnums=1), in_axes=(None, 0))(affine_values(), rows))


def vars_of(model):
    return {"kernel": model.kernel[...], "shift": model.shift[...]}
