"""A captured model that is also an argument, shared or returned is one object everywhere."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from tests.transforms.library import nnx
from tests.transforms.modes import Before, all_modes, counter, gradient, number, use

X = jnp.float32(2)


def same(model: Any, seen: list[bool]) -> Any:
    """Return a function that compares its argument with what it closes over, and counts in both."""

    def inside(argument, x):
        seen.append(argument is model and argument.w is model.w)
        use(argument, x)
        return use(model, x)

    return inside


@all_modes
@pytest.mark.parametrize("transform", ["jit", "remat"])
def test_a_captured_model_that_is_an_argument_is_one_object(mode, transform):
    model = counter(nnx, 1.0, 2.0)
    seen: list[bool] = []
    lifted = getattr(nnx, transform)(same(model, seen), **mode)
    assert number(lifted(model, X)) == 6.0
    assert set(seen) == {True}
    assert number(model.n) == 2.0


@all_modes
@pytest.mark.parametrize("loop", ["while_loop", "fori_loop"])
def test_a_carry_and_a_captured_model_are_one_object(mode, loop):
    model = counter(nnx, 1.0, 2.0)
    seen: list[bool] = []

    def body(*args):
        carry, x = args[-1]
        return carry, same(model, seen)(carry, x)

    if loop == "fori_loop":
        _, result = nnx.fori_loop(0, 2, body, (model, X), **mode)
    else:
        _, result = nnx.while_loop(lambda carry: model.n[...] < 4, body, (model, X), **mode)
    assert number(result) == 18.0
    assert set(seen) == {True}
    assert number(model.n) == 4.0


@all_modes
def test_a_mapped_argument_keeps_its_axis_when_it_is_captured_too(mode):
    model = counter(nnx, 1.0, 2.0, 3.0, size=(3,))
    seen: list[bool] = []

    @nnx.vmap(**mode)
    def inside(argument, x):
        seen.append(argument is model)
        model.n[...] += argument.w[...] * x
        return model.w[...]

    assert number(inside(model, jnp.array([1, 10, 100], jnp.float32))) == [1.0, 2.0, 3.0]
    assert set(seen) == {True}
    assert number(model.n) == [1.0, 20.0, 300.0]


@all_modes
def test_a_scanned_argument_keeps_its_axis_when_it_is_captured_too(mode):
    model = counter(nnx, 1.0, 2.0, 3.0, size=(3,))

    def inside(carry, argument):
        model.n[...] += carry
        return carry + argument.w[...], model.w[...]

    total, weights = nnx.scan(inside, **mode)(jnp.float32(0), model)
    assert number(total) == 6.0
    assert number(weights) == [1.0, 2.0, 3.0]
    assert number(model.n) == [0.0, 1.0, 3.0]


@all_modes
def test_part_of_a_captured_model_may_be_an_argument(mode):
    model = counter(nnx, 1.0, 2.0)

    @nnx.jit(**mode)
    def inside(weights):
        weights[...] *= 2
        return model.w[...] + 0, weights is model.w

    result, one = inside(model.w)
    assert one
    assert number(result) == [2.0, 4.0]
    assert number(model.w) == [2.0, 4.0]


@pytest.mark.parametrize("transform", ["jit", "remat", "cond"])
def test_a_captured_model_that_is_returned_is_the_very_object(transform):
    model = counter(nnx)

    def inside(x):
        use(model, x)
        return {"model": model, "part": model.w}

    def run():
        if transform == "cond":
            return nnx.cond(True, inside, inside, X)
        return getattr(nnx, transform)(inside)(X)

    result = run()
    assert result["model"] is model
    assert result["part"] is model.w
    assert number(model.n) == 1.0


# -- gradients and axes: what is captured is broadcast and not differentiated ------------------------


@all_modes
def test_a_gradient_is_that_of_the_argument_only(mode):
    model = counter(nnx, 1.0, 2.0)

    def loss(x):
        model.n[...] += 1
        return (jnp.square(model.w[...]) * x).sum()

    slope = nnx.grad(loss, **mode)(X)
    assert isinstance(slope, jax.Array)
    assert number(slope) == 5.0
    value, slope = nnx.value_and_grad(loss, **mode)(X)
    assert (number(value), number(slope)) == (10.0, 5.0)
    assert number(model.n) == 2.0
    assert number(model.w) == [1.0, 2.0]


@all_modes
def test_what_is_captured_may_hold_integers(mode):
    rngs = nnx.Rngs(0)
    slope = nnx.grad(lambda x: x * jax.random.normal(rngs.params()), **mode)(1.0)
    assert number(slope) == number(jax.random.normal(nnx.Rngs(0).params()))
    assert number(rngs.params.count) == 1


@all_modes
def test_a_captured_model_passes_through_nested_gradients(mode):
    model = counter(nnx, 1.0, 2.0)
    slope = nnx.grad(lambda x: use(model, x**3), **mode)
    assert number(nnx.grad(lambda x: slope(x), **mode)(X)) == 36.0
    assert number(model.n) == 1.0


@all_modes
def test_a_gradient_counts_both_uses_of_a_model_that_is_argument_and_captured(mode):
    model = counter(nnx, 1.0, 2.0)

    def loss(argument):
        return (argument.w[...] * model.w[...]).sum()

    assert gradient(nnx.grad(loss, **mode)(model), "w") == [2.0, 4.0]


@all_modes
def test_a_captured_model_is_broadcast_over_a_mapped_axis(mode):
    model = counter(nnx, 1.0, 2.0)
    seen = []

    @nnx.vmap(**mode)
    def inside(x):
        seen.append(model.w.shape)
        return model.w[...] * x

    assert number(inside(jnp.array([1, 10], jnp.float32))) == [[1.0, 2.0], [10.0, 20.0]]
    assert set(seen) == {(2,)}


@all_modes
def test_a_captured_model_may_not_come_to_depend_on_the_mapped_axis(mode):
    model = counter(nnx)
    before = Before(model)

    @nnx.vmap(**mode)
    def inside(x):
        model.n[...] += x

    with pytest.raises(ValueError, match=r"\bn\b"):
        inside(jnp.array([1, 10], jnp.float32))
    assert before.is_still_so()
