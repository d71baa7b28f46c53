"""An average of the parameters, and the state in checkpoints of flax.training and of orbax."""

import tempfile
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
import orbax.checkpoint as ocp
from flax.training import checkpoints, train_state


class Net(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.Dense(self.width, name="first")(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        return nn.Dense(1)(nn.relu(x))


class TrainState(train_state.TrainState):
    batch_stats: Any
    ema_params: Any

    def apply_gradients(self, *, grads, **kwargs):
        state = super().apply_gradients(grads=grads, **kwargs)
        ema = jax.tree.map(lambda e, p: e * 0.9 + p * 0.1, state.ema_params, state.params)
        return state.replace(ema_params=ema)


def create(model, rng, x):
    variables = model.init(rng, x, train=False)
    return TrainState.create(
        apply_fn=model.apply,
        params=variables["params"],
        ema_params=variables["params"],
        batch_stats=variables["batch_stats"],
        tx=optax.adamw(1e-2),
    )


@jax.jit
def train_step(state, x, y):
    def loss_fn(params):
        variables = {"params": params, "batch_stats": state.batch_stats}
        out, updates = state.apply_fn(variables, x, train=True, mutable=["batch_stats"])
        return jnp.mean((out - y) ** 2), updates

    (loss, updates), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads, batch_stats=updates["batch_stats"]), loss


def predict(state, x):
    variables = {"params": state.ema_params, "batch_stats": state.batch_stats}
    return state.apply_fn(variables, x, train=False)


def run():
    x = jax.random.normal(jax.random.PRNGKey(1), (6, 4))
    y = x.sum(-1, keepdims=True)
    state = create(Net(5), jax.random.PRNGKey(0), x)
    losses = []
    for _ in range(3):
        state, loss = train_step(state, x, y)
        losses.append(loss)
    with tempfile.TemporaryDirectory() as folder:
        checkpoints.save_checkpoint(f"{folder}/flax", target=state, step=int(state.step), keep=2)
        blank = state.replace(params=jax.tree.map(jnp.zeros_like, state.params))
        restored = checkpoints.restore_checkpoint(f"{folder}/flax", target=blank)
        saved = {"params": state.params, "opt_state": state.opt_state}
        with ocp.StandardCheckpointer() as checkpointer:
            checkpointer.save(f"{folder}/orbax", saved)
            checkpointer.wait_until_finished()
            read = checkpointer.restore(f"{folder}/orbax", saved)
    restored = restored.replace(params=read["params"], opt_state=read["opt_state"])
    restored, loss = train_step(restored, x, y)
    return [*losses, loss], predict(restored, x)
