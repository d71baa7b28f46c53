"""A network with BatchNorm and dropout; the state carries the batch statistics."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training.train_state import TrainState


class Block(nn.Module):
    features: int
    norm: Any = nn.BatchNorm

    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.Dense(self.features, use_bias=False)(x)
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        return nn.relu(x)


class Net(nn.Module):
    widths: tuple

    @nn.compact
    def __call__(self, x, train: bool = True):
        for width in self.widths:
            x = Block(width)(x, train)
        x = nn.Dropout(rate=0.3, deterministic=True)(x)
        return nn.Dense(1)(x)[..., 0]


class State(TrainState):
    batch_stats: Any
    key: jax.Array


def loss_of(predictions, targets):
    return jnp.mean((predictions - targets) ** 2)


@jax.jit
def train_step(state: State, batch):
    def loss_fn(params):
        variables = {"params": params, "batch_stats": state.batch_stats}
        predictions, updates = state.apply_fn(
            variables,
            batch["x"],
            train=True,
            rngs={"dropout": jax.random.fold_in(state.key, state.step)},
            mutable=["batch_stats"],
        )
        return loss_of(predictions, batch["y"]), (predictions, updates)

    (loss, (_, updates)), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    state = state.apply_gradients(grads=grads)
    return state.replace(batch_stats=updates["batch_stats"]), {"loss": loss}


@partial(jax.jit, static_argnums=())
def eval_step(state, x):
    return state.apply_fn(
        {"params": state.params, "batch_stats": state.batch_stats}, x, train=False
    )


def main(steps):
    model = Net(widths=(6, 5))
    x = jax.random.normal(jax.random.PRNGKey(3), (7, 4))
    y = jnp.sum(x, -1)
    init_rngs = {"params": jax.random.PRNGKey(0), "dropout": jax.random.PRNGKey(1)}
    variables = model.init(init_rngs, x, train=False)
    state = State.create(
        apply_fn=model.apply,
        params=variables["params"],
        batch_stats=variables["batch_stats"],
        key=jax.random.PRNGKey(2),
        tx=optax.adamw(1e-2),
    )
    history = []
    for _ in range(steps):
        state, metrics = train_step(state, {"x": x, "y": y})
        history.append(metrics["loss"])
    return history, eval_step(state, x), jax.tree.map(jnp.sum, jax.tree.leaves(state.batch_stats))


def run():
    return main(4)
