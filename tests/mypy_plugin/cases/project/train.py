"""The use of the models, mostly through shared.py."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax
import shared
from shared import ENCODER_STATE, PAIR, Pair, new_encoder

import typed_nnx as nnx


def order() -> None:
    nnx.split(new_encoder(), ..., nnx.Param)
    nnx.split(PAIR.left, nnx.Param, nnx.Param)
    nnx.split(PAIR, nnx.BatchStat)


def fields(pair: Pair) -> None:
    state = nnx.state(pair)
    reveal_type(state.left.linear.kernel)
    reveal_type(state["right"]["head"]["linear"]["bias"])
    print(state.left.lineer)
    print(state["rigth"])
    print(ENCODER_STATE.norm.mean)
    print(ENCODER_STATE.head.width)
    reveal_type(ENCODER_STATE.head.linear.kernel)
    print(nnx.state(pair.right, nnx.Param).norm.mean)
    print(nnx.state(pair).left.width)
    print(pair.left.linear.kernel.value)


def put_back(pair: Pair) -> None:
    nnx.update(pair, nnx.state(pair.left))
    graphdef, params, rest = nnx.split(pair, nnx.Param, ...)
    nnx.merge(graphdef, params)
    nnx.merge(graphdef, nnx.state(pair.left), rest)
    jax.tree.map(jnp.zeros_like, nnx.state(pair))


def loss(model: shared.Encoder, x: jax.Array) -> jax.Array:
    return model(x).mean()


def pair_loss(pair: Pair) -> jax.Array:
    return pair.left(jnp.ones(4)).sum()


def step(model: shared.Encoder, x: jax.Array) -> None:
    optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
    grads = nnx.grad(loss, argnums=nnx.DiffState(0, nnx.BatchStat))(model, x)
    optimizer.update(model, grads)
    optimizer.update(model, nnx.grad(pair_loss)(shared.PAIR))
    nnx.grad(loss, argnums=2)
    nnx.grad(lambda m: (m.linear(x).sum(), 1))


def report(metrics: nnx.MultiMetric, model: shared.Encoder) -> object:
    model.head.linear.kernel[...] = "zeros"
    own = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))
    return {**metrics.compute(), **own.comput()}


@nnx.jit(static_argnames="modle")
def jitted(model: shared.Encoder, x: jax.Array) -> jax.Array:
    return model(x)


def outer(x: jax.Array) -> jax.Array:
    encoder = new_encoder()

    @jax.jit
    def inner(x: jax.Array) -> jax.Array:
        encoder.head.linear.kernel[...] = x
        return encoder(x)

    return inner(x)


def scanned(pair: Pair, x: jax.Array) -> object:
    def step(carry: jax.Array, x: jax.Array) -> tuple[shared.Head, jax.Array]:
        return pair.left, x

    return nnx.scan(step)(x[0], x)


def mapped(pair: Pair, x: jax.Array) -> jax.Array:
    def one(model: shared.Head, x: jax.Array) -> jax.Array:
        return model(x)

    return nnx.vmap(one, in_axes=(None, 0, 0))(pair.left, x)


def branch(x: jax.Array) -> object:
    def yes(x: jax.Array) -> jax.Array:
        return x

    def no(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        return x, x

    return nnx.cond(x.sum() > 0, yes, no, x)


old = nnx.GraphState
nnx.state(PAIR, only=nnx.Param)
jax.nn.relu(PAIR.left.linear.kernel)


class Trainer:
    """Its States are made in one method and read in another."""

    def __init__(self, head: shared.Head) -> None:
        self.state = nnx.state(head)
        self.graphdef, self.params, self.rest = nnx.split(head, nnx.Param, ...)

    def read(self) -> None:
        reveal_type(self.state.linear.kernel)
        print(self.params.linear.scale)
        print(HEAD_STATE.linear.kernel)


HEAD_STATE = nnx.state(PAIR.left)


def of_another(trainer: Trainer) -> None:
    print(shared.ENCODER_STATE.norm.maen)
    print(trainer.params.lineer.kernel)
