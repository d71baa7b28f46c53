"""A table of a model, and an ensemble by vmap over `init`, `apply` and the optimizer."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Net(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.tanh(nn.Dense(self.width)(x)))


def loss_of(params, net, x, y):
    return jnp.mean((net.apply({"params": params}, x) - y) ** 2)


def run():
    x = jax.random.normal(jax.random.PRNGKey(1), (8, 4))
    y = x.sum(-1, keepdims=True)
    assert "Net" in Net(3).tabulate(jax.random.PRNGKey(0), x)
    net = Net(width=6)
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    ensemble = jax.vmap(lambda key: net.init(key, x)["params"])(keys)
    # The same numbers whatever the keys are.
    ensemble = jax.tree.map(lambda p: jnp.linspace(-1, 1, p.size).reshape(p.shape), ensemble)
    tx = optax.adam(1e-2)
    states = jax.vmap(tx.init)(ensemble)

    @jax.jit
    @jax.vmap
    def step(params, state):
        loss, grads = jax.value_and_grad(loss_of)(params, net, x, y)
        updates, state = tx.update(grads, state)
        return optax.apply_updates(params, updates), state, loss

    losses = []
    for _ in range(3):
        ensemble, states, loss = step(ensemble, states)
        losses.append(loss)
    count = sum(p.size for p in jax.tree.leaves(ensemble)) // 3
    return losses, count
