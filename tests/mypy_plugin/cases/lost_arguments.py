from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import optax

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 2, rngs=rngs)
        self.count = nnx.Variable(jnp.zeros(()))
        self.total = jnp.zeros(())
        self.layers = nnx.List([nnx.Linear(2, 2, rngs=rngs)])

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.linear(x)

    def score(self, x: jax.Array) -> jax.Array:
        return self.linear(x).sum()

    def part(self) -> nnx.Linear:
        return self.linear

    @jax.jit
    def method(self, x: jax.Array) -> jax.Array:
        y = self.linear(x)  # silent: it may be anything that a layer returns
        return y


def loss_of(model: Model, x: jax.Array) -> jax.Array:
    return jnp.square(model(x)).mean()


# -- reports
@jax.jit
def train_step(model: Model, optimizer: nnx.Optimizer[Model], x: jax.Array) -> jax.Array:
    def loss_fn(model: Model) -> jax.Array:
        return loss_of(model, x)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)  # E: jax.jit: `train_step` changes `optimizer` (Optimizer) of a copy of its argument `optimizer`  [nnx-lost-update]
    return loss


@jax.jit
def counts(model: Model, x: jax.Array) -> jax.Array:
    y = model(x) + model.score(x) + loss_of(model, x)
    model.count[...] += 1  # E: `counts` changes `model.count` (Variable) of a copy of its argument `model`  [nnx-lost-update]
    return y


@jax.jit
def sets(model: Model, x: jax.Array) -> jax.Array:
    y = model.layers[0].kernel[...] @ x
    model.total = y.sum()  # E: changes `model.total` (Model) of a copy  [nnx-lost-update]
    return y


@functools.partial(jax.jit, static_argnames=("times",))
def with_a_static_argument(model: Model, times: int) -> None:
    model.layers[0].kernel[...] *= times  # E: changes `model.layers[0].kernel` (Param) of a copy  [nnx-lost-update]


def given(model: Model, x: jax.Array) -> jax.Array:
    model.count.set_value(x.sum())  # E: jax.vmap: `given` changes `model.count` (Variable)  [nnx-lost-update]
    return x


jax.vmap(given, in_axes=(None, 0))


@jax.jit
def averages(metrics: nnx.metrics.Average, x: jax.Array) -> jax.Array:
    metrics.update(values=x)  # E: changes `metrics` (Average) of a copy of its argument `metrics`  [nnx-lost-update]
    return x


@jax.grad
def slope(model: Model, x: jax.Array) -> jax.Array:
    y = model(x).sum()
    model.count[...] += 1  # E: jax.grad: `slope` changes `model.count` (Variable)  [nnx-lost-update]
    return y


# -- correct
@nnx.jit
def with_nnx(model: Model, optimizer: nnx.Optimizer[Model], x: jax.Array) -> jax.Array:
    loss, grads = nnx.value_and_grad(loss_of)(model, x)
    optimizer.update(model, grads)
    return loss


@jax.jit
def returns_the_model(model: Model, x: jax.Array) -> tuple[jax.Array, Model]:
    y = model(x)
    model.count[...] += 1
    return y, model


@jax.jit
def returns_the_state(model: Model, x: jax.Array) -> Any:
    y = model(x)
    model.count[...] += 1
    return y, nnx.state(model)


@jax.jit
def returns_a_state_of_before(model: Model) -> Any:
    state = nnx.state(model)
    model.count[...] += 1
    return state


@jax.jit
def returns_a_part(model: Model) -> Any:
    layer, other = model.layers[0], model.part()
    model.layers[0].kernel[...] += 1
    model.linear.kernel[...] += 1
    return layer, other


@jax.jit
def returns_the_value(model: Model) -> jax.Array:
    model.count[...] += 1
    return model.count[...]


@jax.jit
def computes_with_what_it_changed(model: Model, params: Any, x: jax.Array) -> jax.Array:
    model.total = x.sum()
    nnx.update(model, params)
    return model(x).sum()


@jax.jit
def adapts(model: Model, optimizer: nnx.Optimizer[Model], x: jax.Array) -> jax.Array:
    grads = nnx.grad(loss_of)(model, x)
    optimizer.update(model, grads)
    return loss_of(model, x)


@jax.jit
def of_its_own(x: jax.Array) -> jax.Array:
    model = Model(nnx.Rngs(0))
    model.total = x
    return x


# Shapes are all that is asked for.
def for_shapes(model: Model, x: jax.Array) -> jax.Array:
    model.total = x
    return x


jax.eval_shape(for_shapes, Model(nnx.Rngs(0)), jnp.ones(2))


# -- unsure
@jax.jit
def draws(rngs: nnx.Rngs, x: jax.Array) -> jax.Array:
    return x + rngs.normal((2,))  # the caller may make the streams anew for each call


@jax.jit
def in_a_loop(model: Model, x: jax.Array) -> jax.Array:
    for _ in range(3):
        x = model(x)
        model.count[...] += 1
    return x


@jax.jit
def keeps(model: Model, seen: list[Any]) -> None:
    seen.append(model)
    model.count[...] += 1


@jax.jit
def in_a_function(model: Model, x: jax.Array) -> jax.Array:
    def read() -> jax.Array:
        return model.count[...]

    model.count[...] += 1
    return x + read()


@functools.partial(jax.jit, static_argnums=0)  # E: `model` is static  [nnx-static-args]
def of_a_static_argument(model: Model, x: jax.Array) -> jax.Array:
    model.total = x
    return x


@jax.jit
def by_its_call(model: Model, x: jax.Array) -> jax.Array:
    return model(x)  # a BatchNorm in it would change its averages


@jax.jit
def bound_again(model: Model, x: jax.Array) -> jax.Array:
    model = nnx.clone(model)
    model.total = x
    return x


@jax.jit
def of_any_type(model: Any, x: jax.Array) -> jax.Array:
    model.count[...] += 1
    return x


def with_options(numbers: int) -> None:
    @functools.partial(jax.jit, static_argnums=numbers)
    def of_some(model: Model, x: jax.Array) -> jax.Array:
        model.total = x
        return x
