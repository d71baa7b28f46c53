"""One program in each library's own idiom, and the lines that are wrong in it.

A program is correct until ``use``; each wrong line then stands in a function of its own, so that one mistake hides
no other. The classes, layers and names are the same wherever the library allows it.
"""

from __future__ import annotations

from typing import NamedTuple

NNX = """\
import jax
import jax.numpy as jnp
import optax

{import_nnx}


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.hidden = nnx.Linear(2, 4, rngs=rngs)
        self.head = nnx.Linear(4, 1, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.head(nnx.relu(self.hidden(x)))


class Other(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.scale = nnx.Param(jnp.ones(2))


def loss(model: Model, x: jax.Array) -> jax.Array:
    return model(x).sum()


def other_loss(other: Other) -> jax.Array:
    return other.scale[...].sum()


@nnx.jit
def step(model: Model, optimizer: nnx.Optimizer, x: jax.Array) -> jax.Array:
    value, grads = nnx.value_and_grad(loss)(model, x)
    optimizer.update(model, grads)
    return value


model, other, x = Model(nnx.Rngs(0)), Other(nnx.Rngs(0)), jnp.ones((3, 2))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
graphdef, params = nnx.split(model)
"""

LINEN = """\
import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training.train_state import TrainState


class Model(nn.Module):
    def setup(self) -> None:
        self.hidden = nn.Dense(4)
        self.head = nn.Dense(1)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.head(nn.relu(self.hidden(x)))


class Other(nn.Module):
    def setup(self) -> None:
        self.scale = self.param("scale", nn.initializers.ones, (2,))

    def __call__(self) -> jax.Array:
        return self.scale


model, other, x = Model(), Other(), jnp.ones((3, 2))
variables = model.init(jax.random.key(0), x)
params, other_params = variables["params"], other.init(jax.random.key(0))["params"]


def loss(params, x: jax.Array) -> jax.Array:
    return model.apply({"params": params}, x).sum()


def other_loss(params) -> jax.Array:
    return other.apply({"params": params}).sum()


@jax.jit
def step(state: TrainState, x: jax.Array) -> tuple[TrainState, jax.Array]:
    value, grads = jax.value_and_grad(loss)(state.params, x)
    return state.apply_gradients(grads=grads), value


state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))
"""

EQUINOX = """\
import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Model(eqx.Module):
    hidden: eqx.nn.Linear
    head: eqx.nn.Linear

    def __init__(self, key: jax.Array) -> None:
        one, two = jax.random.split(key)
        self.hidden = eqx.nn.Linear(2, 4, key=one)
        self.head = eqx.nn.Linear(4, 1, key=two)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.head(jax.nn.relu(self.hidden(x)))


class Other(eqx.Module):
    scale: jax.Array


def loss(model: Model, x: jax.Array) -> jax.Array:
    return jax.vmap(model)(x).sum()


def other_loss(other: Other) -> jax.Array:
    return other.scale.sum()


@eqx.filter_jit
def step(model: Model, state: optax.OptState, x: jax.Array) -> tuple[Model, optax.OptState]:
    value, grads = eqx.filter_value_and_grad(loss)(model, x)
    updates, state = tx.update(grads, state)
    return eqx.apply_updates(model, updates), state


model, other, x = Model(jax.random.key(0)), Other(jnp.ones(2)), jnp.ones((3, 2))
tx = optax.sgd(0.1)
state = tx.init(eqx.filter(model, eqx.is_array))
params, static = eqx.partition(model, eqx.is_array)
"""


class Mistake(NamedTuple):
    """A mistake, as a line of each library: NNX's (ours and flax.nnx), Linen's, equinox's."""

    what: str
    nnx: str
    linen: str
    equinox: str


MISTAKES = (
    Mistake(
        "a layer without the key of its parameters, or without its size",
        "nnx.Linear(2, 4)",
        "nn.Dense()",
        "eqx.nn.Linear(2, 4)",
    ),
    Mistake(
        "an option of a layer misspelt",
        "nnx.Linear(2, 4, use_bais=False, rngs=nnx.Rngs(0))",
        "nn.Dense(4, use_bais=False)",
        "eqx.nn.Linear(2, 4, use_bais=False, key=jax.random.key(0))",
    ),
    Mistake("a layer of a model misspelt", "model.haed", "model.haed", "model.haed"),
    Mistake("the model called without its input", "model()", "model.apply(variables)", "model()"),
    Mistake(
        "a text as input of the model", 'model("x")', 'model.apply(variables, "x")', 'model("x")'
    ),
    Mistake(
        "a parameter misspelt in the values of a model",
        "params.head.kernal",
        'params["head"]["kernal"]',
        "params.head.wieght",
    ),
    Mistake(
        "a parameter misspelt in gradients",
        "nnx.grad(loss)(model, x).head.kernal",
        'jax.grad(loss)(params, x)["head"]["kernal"]',
        "eqx.filter_grad(loss)(model, x).head.wieght",
    ),
    Mistake(
        "three names for the two results of value_and_grad",
        "a, b, c = nnx.value_and_grad(loss)(model, x)",
        "a, b, c = jax.value_and_grad(loss)(params, x)",
        "a, b, c = eqx.filter_value_and_grad(loss)(model, x)",
    ),
    Mistake(
        "swapped arguments of a differentiated function",
        "nnx.value_and_grad(loss)(x, model)",
        "jax.value_and_grad(loss)(x, params)",
        "eqx.filter_value_and_grad(loss)(x, model)",
    ),
    Mistake(
        "three names for the two parts of a model",
        "a, b, c = nnx.split(model)",
        "a, b, c = model.init_with_output(jax.random.key(0), x)",
        "a, b, c = eqx.partition(model, eqx.is_array)",
    ),
    Mistake(
        "an optimizer's step with the gradients of another model",
        "optimizer.update(model, nnx.grad(other_loss)(other))",
        "state.apply_gradients(grads=jax.grad(other_loss)(other_params))",
        "eqx.apply_updates(model, tx.update(eqx.filter_grad(other_loss)(other), state)[0])",
    ),
    Mistake(
        "a compiled step without its batch",
        "step(model, optimizer)",
        "step(state)",
        "step(model, state)",
    ),
    Mistake(
        "an attribute that the result of a compiled step does not have",
        "step(model, optimizer, x).nothing",
        "step(state, x)[1].nothing",
        "step(model, state, x)[0].nothing",
    ),
    Mistake(
        "a State that filters do not cover",
        "a, b = nnx.split(model, nnx.BatchStat)",
        'model.apply({"batch_stats": params}, x)',
        "eqx.combine(static)(x)",
    ),
)
