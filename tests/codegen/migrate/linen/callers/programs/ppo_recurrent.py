"""PPO as in PureJaxRL with a recurrent network: the whole training under jit and vmap over seeds."""

import functools
from typing import NamedTuple, Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.linen.initializers import constant
from flax.training.train_state import TrainState


class ScannedRNN(nn.Module):
    @functools.partial(
        nn.scan,
        variable_broadcast="params",
        in_axes=0,
        out_axes=0,
        split_rngs={"params": False},
    )
    @nn.compact
    def __call__(self, carry, x):
        rnn_state = carry
        ins, resets = x
        rnn_state = jnp.where(
            resets[:, jnp.newaxis], self.initialize_carry(ins.shape[0], ins.shape[1]), rnn_state
        )
        cell = nn.GRUCell(
            features=ins.shape[1],
            kernel_init=constant(0.05),
            recurrent_kernel_init=constant(0.02),
        )
        new_rnn_state, y = cell(rnn_state, ins)
        return new_rnn_state, y

    @staticmethod
    def initialize_carry(batch_size, hidden_size):
        cell = nn.GRUCell(features=hidden_size)
        return cell.initialize_carry(jax.random.PRNGKey(0), (batch_size, hidden_size))


class ActorCriticRNN(nn.Module):
    action_dim: Sequence[int]
    config: dict

    @nn.compact
    def __call__(self, hidden, x):
        obs, dones = x
        embedding = nn.Dense(6, kernel_init=constant(0.3), bias_init=constant(0.0))(obs)
        embedding = nn.relu(embedding)
        hidden, embedding = ScannedRNN()(hidden, (embedding, dones))
        actor_mean = nn.Dense(5, kernel_init=constant(0.2), bias_init=constant(0.1))(embedding)
        actor_mean = nn.relu(actor_mean)
        actor_mean = nn.Dense(self.action_dim, kernel_init=constant(0.1))(actor_mean)
        critic = nn.Dense(5, kernel_init=constant(0.15))(embedding)
        critic = nn.Dense(1, kernel_init=constant(1.0))(nn.relu(critic))
        return hidden, actor_mean, jnp.squeeze(critic, axis=-1)


class Transition(NamedTuple):
    done: jnp.ndarray
    action: jnp.ndarray
    value: jnp.ndarray
    reward: jnp.ndarray
    log_prob: jnp.ndarray
    obs: jnp.ndarray


def step_env(obs, action):
    obs = jnp.sin(obs * 1.3 + action[:, None])
    return obs, jnp.cos(obs).sum(-1), obs[:, 0] > 0.8


def make_train(config):
    def linear_schedule(count):
        return config["LR"] * (1.0 - count / 10)

    def train(rng):
        network = ActorCriticRNN(config["ACTIONS"], config=config)
        rng, _rng = jax.random.split(rng)
        init_x = (
            jnp.zeros((1, config["NUM_ENVS"], *config["OBS_SHAPE"])),
            jnp.zeros((1, config["NUM_ENVS"])),
        )
        init_hstate = ScannedRNN.initialize_carry(config["NUM_ENVS"], 6)
        network_params = network.init(_rng, init_hstate, init_x)
        tx = optax.chain(
            optax.clip_by_global_norm(0.5), optax.adam(learning_rate=linear_schedule, eps=1e-5)
        )
        train_state = TrainState.create(apply_fn=network.apply, params=network_params, tx=tx)
        init_hstate = ScannedRNN.initialize_carry(config["NUM_ENVS"], 6)

        def _update_step(runner_state, unused):
            def _env_step(runner_state, unused):
                train_state, last_obs, last_done, hstate, rng = runner_state
                rng, _rng = jax.random.split(rng)
                ac_in = (last_obs[np_newaxis, :], last_done[np_newaxis, :])
                hstate, logits, value = network.apply(train_state.params, hstate, ac_in)
                action = jax.random.categorical(_rng, logits)
                log_prob = jnp.take_along_axis(jax.nn.log_softmax(logits), action[..., None], -1)
                action, value, log_prob = action[0], value[0], log_prob[0, :, 0]
                obs, reward, done = step_env(last_obs, action)
                transition = Transition(last_done, action, value, reward, log_prob, last_obs)
                return (train_state, obs, done, hstate, rng), transition

            initial_hstate = runner_state[-2]
            runner_state, traj_batch = jax.lax.scan(_env_step, runner_state, None, 4)
            train_state, last_obs, last_done, hstate, rng = runner_state
            ac_in = (last_obs[np_newaxis, :], last_done[np_newaxis, :])
            _, _, last_val = network.apply(train_state.params, hstate, ac_in)

            def _get_advantages(gae_and_next_value, transition):
                gae, next_value = gae_and_next_value
                delta = (
                    transition.reward + 0.9 * next_value * (1 - transition.done) - transition.value
                )
                gae = delta + 0.8 * (1 - transition.done) * gae
                return (gae, transition.value), gae

            _, advantages = jax.lax.scan(
                _get_advantages,
                (jnp.zeros_like(last_val[0]), last_val[0]),
                traj_batch,
                reverse=True,
            )

            def _update_epoch(update_state, unused):
                def _loss_fn(params, init_hstate, traj_batch, gae):
                    _, logits, value = network.apply(
                        params, init_hstate, (traj_batch.obs, traj_batch.done)
                    )
                    log_probs = jax.nn.log_softmax(logits)
                    log_prob = jnp.take_along_axis(log_probs, traj_batch.action[..., None], -1)
                    ratio = jnp.exp(log_prob[..., 0] - traj_batch.log_prob)
                    loss_actor = -jnp.minimum(ratio * gae, jnp.clip(ratio, 0.8, 1.2) * gae).mean()
                    value_loss = jnp.square(value - (traj_batch.value + gae)).mean()
                    entropy = -(jnp.exp(log_probs) * log_probs).sum(-1).mean()
                    return loss_actor + 0.5 * value_loss - 0.01 * entropy, value_loss

                train_state, rng = update_state
                grad_fn = jax.value_and_grad(_loss_fn, has_aux=True)
                total_loss, grads = grad_fn(
                    train_state.params, initial_hstate, traj_batch, advantages
                )
                train_state = train_state.apply_gradients(grads=grads)
                return (train_state, rng), total_loss

            update_state, loss_info = jax.lax.scan(_update_epoch, (train_state, rng), None, 2)
            train_state, rng = update_state
            return (train_state, last_obs, last_done, hstate, rng), loss_info

        obs = jnp.linspace(-1, 1, config["NUM_ENVS"] * 3).reshape(config["NUM_ENVS"], 3)
        done = jnp.zeros(config["NUM_ENVS"], dtype=bool)
        runner_state = (train_state, obs, done, init_hstate, rng)
        runner_state, loss_info = jax.lax.scan(_update_step, runner_state, None, 3)
        return {"runner_state": runner_state[1], "metrics": loss_info}

    return train


np_newaxis = None


def run():
    config = {"LR": 1e-2, "NUM_ENVS": 4, "ACTIONS": 3, "OBS_SHAPE": (3,)}
    rngs = jax.random.split(jax.random.PRNGKey(30), 2)
    return jax.jit(jax.vmap(make_train(config)))(rngs)
