"""Rollouts and updates under lax.scan; the networks live in closures."""

from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.linen.initializers import constant, orthogonal
from flax.training.train_state import TrainState


class ActorCritic(nn.Module):
    action_dim: int
    activation: str = "tanh"

    @nn.compact
    def __call__(self, x):
        activation = nn.relu if self.activation == "relu" else nn.tanh
        actor = nn.Dense(6, kernel_init=orthogonal(np.sqrt(2)), bias_init=constant(0.0))(x)
        actor = activation(actor)
        logits = nn.Dense(self.action_dim, kernel_init=orthogonal(0.01))(actor)
        critic = activation(nn.Dense(5, kernel_init=orthogonal(np.sqrt(2)))(x))
        critic = nn.Dense(1, kernel_init=orthogonal(1.0))(critic)
        return logits, jnp.squeeze(critic, axis=-1)


class Transition(NamedTuple):
    value: jnp.ndarray
    obs: jnp.ndarray


class Env:
    shape = (4,)

    def step(self, obs, action):
        return jnp.sin(obs + action[..., None]), jnp.cos(obs).sum(-1)


def make_train(config):
    env = Env()

    def train(rng):
        network = ActorCritic(config["ACTIONS"], activation=config["ACTIVATION"])
        rng, _rng = jax.random.split(rng)
        init_x = jnp.zeros(env.shape)
        network_params = network.init(_rng, init_x)
        tx = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(config["LR"], eps=1e-5))
        train_state = TrainState.create(
            apply_fn=network.apply,
            params=network_params,
            tx=tx,
        )

        def _update_step(runner_state, unused):
            def _env_step(runner_state, unused):
                train_state, obs = runner_state
                logits, value = network.apply(train_state.params, obs)
                obs, _ = env.step(obs, jnp.argmax(logits, -1))
                return (train_state, obs), Transition(value, obs)

            runner_state, batch = jax.lax.scan(_env_step, runner_state, None, 3)
            train_state, last_obs = runner_state
            _, last_val = network.apply(train_state.params, last_obs)

            def _loss_fn(params, batch):
                logits, value = network.apply(params, batch.obs)
                return jnp.mean((value - last_val) ** 2) + 0.1 * jnp.mean(logits**2)

            loss, grads = jax.value_and_grad(_loss_fn)(train_state.params, batch)
            train_state = train_state.apply_gradients(grads=grads)
            return (train_state, last_obs), loss

        obs = jnp.linspace(-1, 1, 8).reshape(2, 4)
        runner_state, losses = jax.lax.scan(_update_step, (train_state, obs), None, 3)
        return {"losses": losses, "last": network.apply(runner_state[0].params, obs)}

    return train


def run():
    train = make_train({"ACTIONS": 3, "ACTIVATION": "tanh", "LR": 1e-2})
    return train(jax.random.PRNGKey(0))
