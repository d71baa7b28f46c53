"""Data parallel training with flax.jax_utils and pmap."""

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import jax_utils
from flax.training import train_state
from flax.training.common_utils import shard


class Net(nn.Module):
    width: int = 8

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(self.width)(x))
        return nn.Dense(1)(x)


@functools.partial(jax.pmap, axis_name="batch")
def train_step(state, batch):
    def loss_fn(params):
        pred = state.apply_fn({"params": params}, batch["x"])
        return jnp.mean((pred - batch["y"]) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    grads = jax.lax.pmean(grads, axis_name="batch")
    loss = jax.lax.pmean(loss, axis_name="batch")
    return state.apply_gradients(grads=grads), loss


def run():
    model = Net()
    x = jax.random.normal(jax.random.PRNGKey(1), (8, 5))
    batch = {"x": x, "y": x.sum(-1, keepdims=True)}
    params = model.init(jax.random.PRNGKey(0), x)["params"]
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-2))
    state = jax_utils.replicate(state)
    losses = []
    for _ in range(3):
        state, loss = train_step(state, shard(batch))
        losses.append(loss[0])
    state = jax_utils.unreplicate(state)
    return losses, model.apply({"params": state.params}, x)
