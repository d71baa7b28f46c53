from __future__ import annotations

from typing import Any

import jax

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.norm = nnx.BatchNorm(3, rngs=rngs)


def loss(model: Model, x: jax.Array) -> jax.Array:
    return jax.numpy.mean(model.linear(x))


def with_aux(model: Model, x: jax.Array) -> tuple[jax.Array, str]:
    return loss(model, x), "aux"


@nnx.value_and_grad
def decorated(model: Model, x: jax.Array) -> jax.Array:
    return loss(model, x)


@nnx.grad(argnums=1)
def of_array(model: Model, x: jax.Array) -> jax.Array:
    return loss(model, x)


model = Model(nnx.Rngs(0))
x = jax.numpy.ones((1, 2))

graphdef, params, rest = nnx.split(model, nnx.Param, ...)


def of_states(params: nnx.State, rest: nnx.State, x: jax.Array) -> tuple[jax.Array, int]:
    return loss(nnx.merge(graphdef, params, rest), x), 1


def of_one(params: nnx.State, x: jax.Array) -> jax.Array:
    return of_states(params, rest, x)[0]


# -- reports
jax.grad(of_one)(params, x).liner  # E: did you mean 'linear'?  [nnx-state-key]
jax.grad(of_one)(params, x).norm.mean  # E: [nnx-state-excluded]
nnx.grad(loss)(model, x).norm.mean  # E: [nnx-state-excluded]
nnx.grad(loss)(model, x).liner  # E: did you mean 'linear'?  [nnx-state-key]

# -- correct
reveal_type(jax.grad(of_one)(params, x).linear.kernel)  # R typed_nnx: Param[Array]  # R flax: Param[Any]
reveal_type(jax.value_and_grad(of_states, (0, 1), has_aux=True)(params, rest, x)[0])  # R: tuple[Array, int]
reveal_type(jax.grad(of_states, has_aux=True)(params, rest, 1.0)[1])  # R: int
jax.grad(of_one, argnums=1)(params, x).shape
reveal_type(nnx.grad(loss)(model, x).linear.bias)  # R: Param[Array]
value, grads = nnx.value_and_grad(loss)(model, x)
reveal_type(value)  # R: Array
reveal_type(grads.linear.bias)  # R: Param[Array]
(value, aux), grads = nnx.value_and_grad(with_aux, has_aux=True)(model, x)
reveal_type(aux)  # R: str
reveal_type(nnx.grad(loss, argnums=1)(model, x))  # R: Array
reveal_type(nnx.grad(loss, argnums=(0, 1))(model, x)[1])  # R: Array
reveal_type(nnx.grad(loss, argnums=(0, 1))(model, x)[0].linear.bias)  # R: Param[Array]
reveal_type(decorated(model, x)[1].linear.bias)  # R: Param[Array]
reveal_type(of_array(model, x))  # R: Array
wrt = nnx.DiffState(0, nnx.All(nnx.Param, nnx.PathContains("linear")))
reveal_type(nnx.grad(loss, argnums=wrt)(model, x).linear.bias)  # R: Param[Array]
# R: BatchStat[Array]
reveal_type(nnx.grad(loss, argnums=nnx.DiffState(0, nnx.BatchStat))(model, x).norm.mean)
jax.tree.map(lambda leaf: leaf * 2, grads).linear


def unannotated(model, x):
    return loss(model, x)


reveal_type(nnx.value_and_grad(unannotated)(model, x)[0])  # R: Array


# -- unsure
def unknown(function: Any, model: Any) -> None:
    reveal_type(nnx.grad(function)(model).x)  # R: Any
    nnx.grad(lambda model: model.x)(model).x
    nnx.value_and_grad(function, argnums=model)
