"""Q-learning with a target network, and one state for both."""

import flax
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState as BaseState


class QNetwork(nn.Module):
    action_dim: int

    @nn.compact
    def __call__(self, x: jnp.ndarray):
        x = nn.Dense(12)(x)
        x = nn.relu(x)
        x = nn.Dense(self.action_dim)(x)
        return x


class TrainState(BaseState):
    target_params: flax.core.FrozenDict


def run():
    key = jax.random.PRNGKey(0)
    key, q_key = jax.random.split(key, 2)
    obs = jax.random.normal(key, (5, 4))
    q_network = QNetwork(action_dim=3)
    q_state = TrainState.create(
        apply_fn=q_network.apply,
        params=q_network.init(q_key, obs),
        target_params=q_network.init(q_key, obs),
        tx=optax.adam(learning_rate=1e-2),
    )
    q_network.apply = jax.jit(q_network.apply)
    q_state = q_state.replace(
        target_params=optax.incremental_update(q_state.params, q_state.target_params, 1)
    )

    @jax.jit
    def update(q_state, observations, actions, rewards):
        q_next_target = q_network.apply(q_state.target_params, observations)
        target = rewards + 0.99 * jnp.max(q_next_target, axis=-1)

        def mse_loss(params):
            q_pred = q_network.apply(params, observations)
            q_pred = q_pred[jnp.arange(q_pred.shape[0]), actions.squeeze()]
            return ((q_pred - target) ** 2).mean(), q_pred

        (loss, q_pred), grads = jax.value_and_grad(mse_loss, has_aux=True)(q_state.params)
        return loss, q_pred, q_state.apply_gradients(grads=grads)

    losses = []
    for step in range(4):
        actions = jnp.array([[0], [1], [2], [0], [1]])
        loss, _, q_state = update(q_state, obs, actions, jnp.ones(5))
        losses.append(loss)
        if step % 2 == 0:
            q_state = q_state.replace(
                target_params=optax.incremental_update(q_state.params, q_state.target_params, 0.5)
            )
    q_values = q_network.apply(q_state.params, obs)
    return losses, q_values, q_network.apply(q_state.target_params, obs)
