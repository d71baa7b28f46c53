"""`Optimizer`, `ModelAndOptimizer`, `TrainState` and `EMA` know the model they are for."""

from __future__ import annotations

from typing import Any, TypeAlias, assert_type

import jax
import optax

import typed_nnx as nnx
from tests.assert_type.models import CNN, MLP

Updates: TypeAlias = nnx.State[Any, Any, MLP, Any]
Model: TypeAlias = tuple[nnx.GraphDef[MLP], Updates]


def optimizer(model: MLP, other: CNN, loss: jax.Array, restored: nnx.State) -> None:
    made = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    grads = nnx.state(model, nnx.Param)
    wrong = nnx.state(other, nnx.Param)
    assert_type(made, nnx.Optimizer[MLP])
    assert_type(made.step, nnx.OptState[jax.Array])
    assert_type(made.update(model, grads), Updates)
    assert_type(made.update(model, grads, value=loss), Updates)
    assert_type(made.update(model, {"first": {}}), Updates)
    assert_type(made.update(model, restored), Updates)
    assert_type(made.update(nnx.state(model), grads), Updates)
    made.update(model, wrong)  # E
    made.update(other, grads)  # E
    made.update(grads, model)  # E
    made.update(grads)  # E
    made.update(model)  # E
    made.update(model, loss)  # E
    made.update(model, grads=grads)  # E
    _ = made.model  # E


def making_an_optimizer(model: MLP) -> None:
    assert_type(
        nnx.Optimizer(nnx.state(model), optax.sgd(0.1), wrt=nnx.Param, graph=False),
        nnx.Optimizer[MLP],
    )
    assert_type(
        nnx.Optimizer((model, model), optax.sgd(0.1), wrt=nnx.Param), nnx.Optimizer[tuple[MLP, MLP]]
    )
    nnx.Optimizer(model, optax.sgd(0.1))  # E
    nnx.Optimizer(model, optax.sgd(0.1), nnx.Param)  # E
    nnx.Optimizer(model, optax.sgd(0.1), wrt=3)  # E
    nnx.Optimizer(model, wrt=nnx.Param)  # E


def with_its_model(model: MLP, other: CNN) -> None:
    made = nnx.ModelAndOptimizer(model, optax.adam(1e-3))
    grads = nnx.state(model, nnx.Param)
    assert_type(made, nnx.ModelAndOptimizer[MLP])
    assert_type(made.model, MLP)
    assert_type(made.update(grads), Updates)
    made.update(nnx.state(other, nnx.Param))  # E
    made.update(model, grads)  # E
    made.update()  # E


class Steps(nnx.TrainState[MLP]):
    epochs: int


def train_state(model: MLP, other: CNN, x: jax.Array) -> None:
    graphdef, params = nnx.split(model)
    state = nnx.TrainState[MLP].create(graphdef, params=params, tx=optax.sgd(0.1))
    assert_type(state, nnx.TrainState[MLP])
    made = nnx.TrainState.create(graphdef, params=params, tx=optax.sgd(0.1))
    assert_type(made.apply_gradients(params), nnx.TrainState[MLP])
    assert_type(Steps.create(graphdef, params=params, tx=optax.sgd(0.1), epochs=3), Steps)
    Steps.create(nnx.graphdef(other), params=params, tx=optax.sgd(0.1), epochs=3)  # E
    assert_type(state.graphdef, nnx.GraphDef[MLP])
    assert_type(state.params, Updates)
    assert_type(state.apply("params")(x), tuple[jax.Array, Model])
    assert_type(state.apply(params).predict(x), tuple[Any, Model])
    assert_type(state.apply_gradients(params), nnx.TrainState[MLP])
    nnx.TrainState[MLP].create(graphdef, params=nnx.state(other), tx=optax.sgd(0.1))  # E
    nnx.TrainState.create(graphdef, tx=optax.sgd(0.1))  # E
    state.apply("params")(x, x)  # E
    state.apply(3)  # E
    state.apply_gradients(nnx.state(other))  # E
    state.apply_gradients()  # E
    state.step = x  # E


def ema(model: MLP, other: CNN) -> None:
    average = nnx.EMA(model, 0.99, only=nnx.Param)
    assert_type(average, nnx.EMA[MLP])
    assert_type(nnx.EMA(nnx.state(model), 0.99), nnx.EMA[MLP])
    assert_type(average.params, Updates)
    assert_type(average.apply_to(model), MLP)
    average.update(model)
    average.update(nnx.state(model))
    average.update(other)  # E
    average.update(nnx.state(other))  # E
    average.apply_to()  # E
    nnx.EMA(model)  # E
    nnx.EMA(model, "0.99")  # E


def one_of_two(model: MLP | CNN, optimizer: nnx.Optimizer[MLP | CNN], x: jax.Array) -> None:
    """The gradient by one of two models belongs to an optimizer of them, and of no third."""

    def loss(model: MLP | CNN) -> jax.Array:
        return model(x).mean()

    gradients = nnx.grad(loss)(model)
    optimizer.update(model, gradients)
    other: nnx.Optimizer[nnx.Linear] = nnx.Optimizer(
        nnx.Linear(1, 1, rngs=nnx.Rngs(0)), optimizer.tx, wrt=nnx.Param
    )
    other.update(nnx.Linear(1, 1, rngs=nnx.Rngs(0)), gradients)  # E


def every_second_step(model: MLP) -> None:
    """A transformation may be one that adds up gradients, which has a type of its own in optax."""
    made = nnx.Optimizer(model, optax.MultiSteps(optax.sgd(0.1), 2), wrt=nnx.Param)
    assert_type(made, nnx.Optimizer[MLP])
    nnx.Optimizer(model, optax.sgd, wrt=nnx.Param)  # E pyright: mypy does not follow optax here
