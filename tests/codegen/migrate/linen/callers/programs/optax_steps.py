"""A loop over optax by hand, in functions and compiled."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class MLP(nn.Module):
    features: tuple

    @nn.compact
    def __call__(self, x):
        for width in self.features[:-1]:
            x = nn.relu(nn.Dense(width)(x))
        return nn.Dense(self.features[-1])(x)


model = MLP(features=(8, 4, 1))
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.02))


def loss_fn(params, x, y):
    pred = model.apply(params, x)
    return jnp.mean((pred[:, 0] - y) ** 2)


@jax.jit
def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = tx.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    return params, opt_state, loss


@jax.jit
def train_step_again(weights, state, x, y):
    """The same with other names, and the step in the result."""
    grads = jax.grad(loss_fn)(weights, x, y)
    updates, new_state = tx.update(grads, state)
    return optax.apply_updates(weights, updates), new_state


def run():
    x = jax.random.normal(jax.random.PRNGKey(0), (16, 5))
    y = x.sum(-1)
    params = model.init(jax.random.PRNGKey(1), x)
    opt_state = tx.init(params)
    losses = []
    for _ in range(5):
        params, opt_state, loss = train_step(params, opt_state, x, y)
        params, opt_state = train_step_again(params, opt_state, x, y)
        losses.append(loss)
    size = sum(leaf.size for leaf in jax.tree_util.tree_leaves(params))
    return losses, model.apply(params, x), loss_fn(params, x, y), size
