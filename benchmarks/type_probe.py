"""What the benchmark of types asks: lines whose type is revealed, and lines that are wrong.

The same text is checked with ``typed_nnx`` and with ``flax.nnx`` as ``nnx``. A revealed type is right if
it is the precise one; where a library has no more precise spelling of it, that counts: ``State`` of
flax knows neither model nor filter, and is accepted.
"""

from __future__ import annotations

from typing import NamedTuple

SETUP = """\
import typing

import jax
import jax.numpy as jnp
import optax

from {package} import nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 2, rngs=rngs)
        self.layers = nnx.List([nnx.Linear(2, 2, rngs=rngs)])
        self.scale = nnx.Param(jnp.ones(2))

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.linear(x)

    @nnx.jit
    def run(self, x: jax.Array) -> jax.Array:
        return self(x)


class Other(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.weight = nnx.Param(jnp.ones(2))


def loss(model: Model, x: jax.Array) -> jax.Array:
    return model(x).sum()


def other_loss(other: Other, x: jax.Array) -> jax.Array:
    return x.sum()


def loss_aux(model: Model, x: jax.Array) -> tuple[jax.Array, int]:
    return model(x).sum(), 1


def constant() -> jax.Array:
    return jnp.ones(())


def body(carry: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    return carry + x, x


def halves(i: typing.Any, x: jax.Array) -> jax.Array:
    return x / 2


def use(model: Model, other: Other, x: jax.Array, rngs: nnx.Rngs) -> None:
    optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)
    other_grads = nnx.grad(other_loss)(other, x)
"""


class Revealed(NamedTuple):
    """An expression and its precise type, where a State is written ``State``."""

    expression: str
    precise: str


REVEALED = (
    Revealed("nnx.split(model)", "tuple[GraphDef[Model], State]"),
    Revealed("nnx.split(model, nnx.Param, ...)", "tuple[GraphDef[Model], State, State]"),
    Revealed("params", "State"),
    Revealed("nnx.state(model)", "State"),
    Revealed("nnx.state(model, nnx.Param, nnx.BatchStat)", "tuple[State, State]"),
    Revealed("nnx.pop(model, nnx.Intermediate)", "State"),
    Revealed("nnx.merge(graphdef, params, rest)", "Model"),
    Revealed("nnx.clone(model)", "Model"),
    Revealed("nnx.grad(loss)(model, x)", "State"),
    Revealed("nnx.grad(loss, argnums=1)(model, x)", "Array"),
    Revealed("nnx.grad(loss, argnums=(0, 1))(model, x)", "tuple[State, Array]"),
    Revealed("nnx.value_and_grad(loss)(model, x)", "tuple[Array, State]"),
    Revealed(
        "nnx.value_and_grad(loss_aux, has_aux=True)(model, x)", "tuple[tuple[Array, int], State]"
    ),
    Revealed("nnx.jit(loss)(model, x)", "Array"),
    Revealed("model.run(x)", "Array"),
    Revealed("nnx.vmap(loss, in_axes=(None, 0))(model, x)", "Array"),
    Revealed("nnx.scan(body, length=3)(x, x)", "tuple[Array, Array]"),
    Revealed("nnx.cond(True, lambda m: m(x), lambda m: x, model)", "Array"),
    Revealed("nnx.cached_partial(nnx.jit(loss), model)(x)", "Array"),
    Revealed("optimizer", "Optimizer[Model]"),
    Revealed("model.layers[0]", "Linear"),
    Revealed("model.scale[...]", "Array"),
)
MISTAKES = (
    "nnx.jit(loss)(model)",
    "nnx.jit(loss)(x, model)",
    "nnx.jit(loss)(model, x).nothing",
    "model.run()",
    "nnx.grad(loss)(x, model)",
    "nnx.grad(loss)(model)",
    "nnx.grad(constant)",
    "nnx.grad(loss, argnums=(0, 1))(model, x)[2]",
    "nnx.value_and_grad(loss)(model, x).nothing",
    "nnx.vmap(loss, in_axes=(None, 0))(model)",
    "nnx.remat(loss)(x, model)",
    "nnx.cond(True, loss, loss, x, model)",
    "nnx.fori_loop(0, 3, halves, model)",
    "one, two, three = nnx.split(model)",
    "nnx.merge(params, graphdef)",
    "nnx.merge(graphdef, params, rest).nothing",
    "nnx.clone(model).nothing",
    "model.layers[0].nothing",
    "model.scale[...].nothing",
    "optimizer.update(model, other_grads)",
    "nnx.Linear(2, 3)",
)
