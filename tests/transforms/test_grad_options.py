"""The options of `grad`, what it takes for a function, and what it refuses."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
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
    stack,
)
from tests.transforms.jit_models import numbers
from tests.transforms.modes import all_modes


@both
@all_modes
def test_aux_comes_back_beside_the_gradient(lib, mode):
    def loss(model, x):
        y = model(x)
        return y**2, {"y": y, "text": "s", "none": None, "more": (1, [x])}

    gradients, aux = lib.grad(loss, has_aux=True, **mode)(affine(lib), X)
    like_affine(gradients, jax.grad(lambda v: forward(v, X) ** 2)(affine_values()))
    close(aux["y"], forward(affine_values(), X))
    assert (aux["text"], aux["none"], aux["more"][0]) == ("s", None, 1)
    assert (aux["more"][1][0] == X).all()
    (value, other), _ = lib.value_and_grad(loss, has_aux=True, **mode)(affine(lib), X)
    close(value, forward(affine_values(), X) ** 2)
    assert other.keys() == aux.keys()


@both
def test_aux_modules_are_the_modules_of_the_arguments(lib):
    def loss(model, other):
        fresh = lib.List([model.first, affine(lib, 2.0)])
        return model(X), (model, model.second.calls, fresh, fresh, other)

    model, other = stack(lib), affine(lib)
    _, aux = lib.grad(loss, has_aux=True)(model, other)
    assert aux[0] is model
    assert aux[1] is model.second.calls
    assert aux[2] is aux[3]
    assert aux[2][0] is model.first
    assert aux[4] is other
    close(aux[2][1].kernel[...], affine_values(2.0)["kernel"])


@both
def test_a_new_module_in_aux_holds_values(lib):
    _, fresh = lib.grad(lambda m: (m(X), affine(lib, 3.0)), has_aux=True, graph=False)(affine(lib))
    assert type(fresh) is type(affine(lib))
    close(fresh.kernel[...], affine_values(3.0)["kernel"])


@both
@all_modes
@pytest.mark.parametrize("result", ["scalar", "three"])
def test_without_a_pair_aux_is_an_error(lib, mode, result):
    def loss(model):
        return model(X) if result == "scalar" else (model(X), 1, 2)

    model = affine(lib)
    before = bits(model)
    with pytest.raises((TypeError, ValueError)):
        lib.grad(loss, has_aux=True, **mode)(model)
    assert bits(model) == before


LOSSES = {
    "vector": lambda model: model(X) * X,
    "one_element": lambda model: model(X)[None],
    "pair": lambda model: (model(X), 1.0),
    "none": lambda model: None,
    "integer": lambda model: jnp.array(1),
    "boolean": lambda model: model(X) > 0,
    "complex": lambda model: jax.lax.complex(model(X), model(X)),
    "text": lambda model: "loss",
}


@both
@all_modes
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_a_loss_must_be_one_real_number(lib, mode, loss):
    model = affine(lib)
    before = bits(model)
    with pytest.raises(TypeError):
        lib.grad(loss, **mode)(model)
    assert bits(model) == before


@both
@all_modes
def test_integers_need_allow_int(lib, mode):
    weight = lib.Param(jnp.array([1, 2]))

    def loss(weight):
        return jnp.sum(weight[...].astype(jnp.float32))

    with pytest.raises(TypeError, match="allow_int"):
        lib.grad(loss, **mode)(weight)
    gradient = lib.grad(loss, allow_int=True, **mode)(weight)
    assert type(gradient) is lib.Param
    value = np.asarray(gradient.get_raw_value())
    assert (value.dtype, value.shape) == (jax.dtypes.float0, (2,))


@both
@all_modes
def test_holomorphic_functions_of_complex_numbers(lib, mode):
    z = jnp.array(1.0 + 2.0j)
    found = lib.grad(lambda v: v[...] ** 2, holomorphic=True, **mode)(lib.Param(z))
    close(found[...], 2 * z)
    found = lib.grad(lambda v: jnp.abs(v[...]) ** 2, **mode)(lib.Param(z))
    close(found[...], jax.grad(lambda v: jnp.abs(v) ** 2)(z))
    with pytest.raises(TypeError, match="holomorphic"):
        lib.grad(lambda v: v[...] ** 2, holomorphic=True, **mode)(lib.Param(jnp.array(1.0)))


@both
def test_reduce_axes_is_as_in_jax(lib):
    close(lib.grad(lambda x: x**2, reduce_axes=())(2.0), jnp.array(4.0))
    with pytest.raises(NotImplementedError, match="reduce_axes"):
        lib.grad(lambda x: x**2, reduce_axes=("batch",))(2.0)


@both
@all_modes
def test_other_arguments_stay_python_values(lib, mode):
    def loss(model, count, name, flag, function):
        assert (type(count), type(name), type(flag)) == (int, str, bool)
        return function(sum(model.shift[...] for _ in range(count))) if flag else None

    found = lib.grad(loss, **mode)(affine(lib), 3, "n", True, jnp.sin)
    close(found.shift[...], 3 * jnp.cos(jnp.array(1.5)))


@all_modes
def test_modules_may_come_by_keyword_in_each_mode(mode):
    other = affine(nnx, 2.0)
    loss = nnx.grad(lambda model, *, other, factor: model(X) * other(X) * factor, **mode)
    found = loss(affine(nnx), other=other, factor=3.0)
    scale = 3 * forward(affine_values(2.0), X)
    like_affine(found, jax.grad(lambda v: forward(v, X) * scale)(affine_values()))
    assert numbers(other.calls) == 1.0


@both
@all_modes
def test_it_decorates_methods(lib, mode):
    class Model(lib.Module):  # type: ignore[name-defined]  # the library is a parameter
        def __init__(self):
            self.shift = lib.Param(jnp.array(2.0))
            self.calls = lib.BatchStat(jnp.array(0.0))

        @lib.grad(**mode)
        def by_self(self, x):
            self.calls[...] += 1.0
            return self.shift[...] ** 2 * x

        @lib.value_and_grad(argnums=1, **mode)
        def by_x(self, x):
            return self.shift[...] * x**2

    model = Model()
    close(model.by_self(3.0).shift[...], jnp.array(12.0))
    close(Model.by_self(model, 3.0).shift[...], jnp.array(12.0))
    assert [float(x) for x in model.by_x(3.0)] == [18.0, 12.0]
    assert numbers(model.calls) == 2.0
