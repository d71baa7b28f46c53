"""A class that holds its model and parameters, and an ensemble of models."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Critic(nn.Module):
    width: int = 5

    @nn.compact
    def __call__(self, state, action):
        x = jnp.concatenate([state, action], -1)
        x = nn.relu(nn.Dense(self.width)(x))
        return nn.Dense(1)(x).squeeze(-1)


class Agent:
    def __init__(self, seed, state, action):
        self.critic = Critic(width=4)
        self.params = self.critic.init(jax.random.PRNGKey(seed), state, action)
        self.tx = optax.sgd(0.1)
        self.opt_state = self.tx.init(self.params)

    def loss(self, params, state, action):
        return jnp.mean(jnp.square(self.critic.apply(params, state, action) - 1.0))

    def update(self, state, action):
        loss, grads = jax.value_and_grad(self.loss)(self.params, state, action)
        updates, self.opt_state = self.tx.update(grads, self.opt_state)
        self.params = optax.apply_updates(self.params, updates)
        return loss


def ensemble(state, action):
    critic = Critic()
    keys = jax.random.split(jax.random.PRNGKey(1), 3)
    params = jax.vmap(critic.init, in_axes=(0, None, None))(keys, state, action)
    params = jax.tree.map(lambda p: jnp.ones_like(p) * 0.1, params)
    return jax.vmap(critic.apply, in_axes=(0, None, None))(params, state, action)


def run():
    state = jax.random.normal(jax.random.PRNGKey(8), (4, 3))
    action = jax.random.normal(jax.random.PRNGKey(9), (4, 2))
    agent = Agent(0, state, action)
    return [agent.update(state, action) for _ in range(3)], ensemble(state, action)
