"""Eight threads that jit, differentiate, split and update: own models, and one that all read.

The weights halve exactly in each step, so every value is known without rounding.
"""

from __future__ import annotations

import time
import typing as tp

import jax
import jax.numpy as jnp
import pytest

from tests.graph import test_threads as threads
from tests.transforms.library import OURS, nnx

switching_often = threads.switching_often
pytestmark = pytest.mark.usefixtures("switching_often")


class Count(nnx.Variable):
    """How often a layer was called."""


class Layer(nnx.Module):
    def __init__(self, value: float) -> None:
        self.w = nnx.Param(jnp.full(2, value))
        self.count = Count(jnp.array(0))
        self.doubled = False

    def __call__(self, x: jax.Array) -> jax.Array:
        self.count[...] += 1
        return self.read(x)

    def read(self, x: jax.Array) -> jax.Array:
        return self.w[...] * x * (2.0 if self.doubled else 1.0)


class Model(nnx.Module):
    def __init__(self, value: float) -> None:
        self.layers = nnx.List([Layer(value), Layer(2 * value)])
        self.first = self.layers[0]

    def __call__(self, x: jax.Array) -> jax.Array:
        return sum((layer(x) for layer in self.layers), jnp.zeros(2))

    def read(self, x: jax.Array) -> jax.Array:
        return sum((layer.read(x) for layer in self.layers), jnp.zeros(2))


def halve(model: tp.Any, x: jax.Array) -> tp.Any:
    """Take a step of size one half down sum(w²)/2, which halves each weight."""

    def loss(model: tp.Any) -> tp.Any:
        return sum(0.5 * jnp.square(layer.w[...]).sum() for layer in model.layers)

    y = model(x)
    slopes = nnx.grad(loss)(model)
    weights = nnx.state(model, nnx.Param)
    nnx.update(model, jax.tree.map(lambda w, slope: w - 0.5 * slope, weights, slopes))
    return y


def grow(model: tp.Any, value: jax.Array) -> None:
    """Change the structure: one layer more."""
    layer = Layer(0.0)
    layer.w[...] += value
    model.layers.append(layer)


def read(model: tp.Any, x: jax.Array) -> tp.Any:
    return model.read(x)


def read_rows(model: tp.Any, x: jax.Array) -> tp.Any:
    return nnx.vmap(read, in_axes=(None, 0))(model, x)


def ones() -> jax.Array:
    return jnp.ones(2)


def is_all(array: jax.Array, value: float) -> bool:
    return bool((array == value).all())


def train_own_models(seconds: float) -> None:
    """Each thread trains fresh models of its own through functions that all threads share."""
    step, lengthen, look = nnx.jit(halve), nnx.jit(grow), nnx.jit(read)
    giving_up = nnx.jit(halve, donate_argnums=0)
    end = time.monotonic() + seconds

    def work(number: int) -> None:
        rounds = 0
        while time.monotonic() < end or rounds < 2:
            rounds += 1
            value = float(64 * (number * 100 + rounds % 50 + 1))
            model = Model(value)
            assert is_all(step(model, ones()), 3 * value)
            assert is_all(giving_up(model, ones()), 1.5 * value)
            assert is_all(model.first.w[...], value / 4)
            assert model.first is model.layers[0]
            graphdef, params, rest = nnx.split(model, nnx.Param, ...)
            other = nnx.merge(graphdef, jax.tree.map(lambda a: -a, params), rest, copy=True)
            assert is_all(look(other, ones()), -0.75 * value)
            lengthen(other, jnp.array(value))
            assert len(other.layers) == 3
            assert is_all(step(other, ones()), 0.25 * value)
            nnx.update(model, jax.tree.map(lambda a: 4 * a, params))
            assert is_all(look(model, ones()), 3 * value)
            model.layers[1].doubled = True
            assert is_all(look(model, ones()), 5 * value)
            assert is_all(step(model, ones()), 5 * value)
            assert is_all(model.layers[1].w[...], value)
            assert [int(layer.count[...]) for layer in model.layers] == [3, 3]
            assert [int(layer.count[...]) for layer in other.layers] == [3, 3, 1]

    threads.together(work)


def read_one_model(seconds: float) -> None:
    """All threads look at one model, through every kind of function, and change copies of it."""
    model = Model(1.0)
    before = nnx.graphdef(nnx.clone(model))
    look, look_by_row, step = nnx.jit(read), nnx.jit(read_rows), nnx.jit(halve)
    slope = nnx.jit(nnx.grad(lambda model, x: read(model, x).sum()))
    end = time.monotonic() + seconds

    def work(number: int) -> None:
        x, rounds = ones() * (number + 1), 0
        while time.monotonic() < end or rounds < 2:
            rounds += 1
            assert is_all(look(model, x), 3.0 * (number + 1))
            assert is_all(model.read(x), 3.0 * (number + 1))
            assert is_all(look_by_row(model, jnp.stack([x, 2 * x]))[1], 6.0 * (number + 1))
            assert is_all(slope(model, x)["layers"][1]["w"][...], number + 1.0)
            copy = nnx.clone(model)
            nnx.update(copy, jax.tree.map(lambda a: a * (number + 2), nnx.state(model, nnx.Param)))
            assert is_all(step(copy, x), 3.0 * (number + 1) * (number + 2))
            assert is_all(copy.first.w[...], (number + 2) / 2)
            if rounds % 10 == 1:  # traced anew, while the others call
                assert is_all(
                    nnx.jit(lambda model, x: read(model, x) + 1)(model, x), 3.0 * number + 4
                )
            if OURS and rounds % 10 == 2:
                assert is_all(nnx.jit(lambda x: model.read(x) + 1)(x), 3.0 * number + 4)

    threads.together(work)
    assert is_all(model.first.w[...], 1.0)
    assert is_all(model.layers[1].w[...], 2.0)
    assert [int(layer.count[...]) for layer in model.layers] == [0, 0]
    assert nnx.graphdef(model) == before


@pytest.mark.thorough
def test_threads_train_models_of_their_own() -> None:
    train_own_models(1.2)


@pytest.mark.thorough
def test_threads_read_one_model() -> None:
    read_one_model(1.2)


@pytest.mark.slow
def test_threads_train_and_read_for_a_long_time() -> None:
    train_own_models(10.0)
    read_one_model(10.0)
