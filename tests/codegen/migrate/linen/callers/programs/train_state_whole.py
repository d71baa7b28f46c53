"""A script whose state has all variables as its parameters, with weight decay in the loss."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class Regressor(nn.Module):
    width: int

    def setup(self):
        self.first = nn.Dense(self.width)
        self.last = nn.Dense(2)

    def features(self, x):
        return nn.tanh(self.first(x))

    def __call__(self, x):
        return self.last(self.features(x))


model = Regressor(width=5)
x = jax.random.normal(jax.random.PRNGKey(3), (6, 4))
y = jnp.stack([x.sum(-1), x.prod(-1)], -1)


def make_state(seed: int) -> TrainState:
    params = model.init(jax.random.PRNGKey(seed), x)
    schedule = optax.exponential_decay(0.05, 2, 0.5)
    return TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(schedule))


def loss_of(params, state: TrainState, x, y):
    error = state.apply_fn(params, x) - y
    decay = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(params))
    return jnp.mean(error**2) + 1e-2 * decay


@jax.jit
def train_step(state: TrainState, x, y) -> tuple[TrainState, jax.Array]:
    loss, grads = jax.value_and_grad(loss_of)(state.params, state, x, y)
    norm = optax.global_norm(grads)
    new_state = state.apply_gradients(grads=jax.tree.map(lambda g: 0.5 * g, grads))
    return new_state, loss + norm * 0


def predict(params, inputs):
    return model.apply(params, inputs)


def run():
    state = make_state(0)
    losses = []
    for step in range(4):
        state, loss = train_step(state, x, y)
        losses.append(loss)
    size = optax.global_norm(state.params)
    return losses, predict(params=state.params, inputs=x), size, int(state.step)
