"""A loop over optax by hand; the model is a global."""

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn


class MLP(nn.Module):
    hidden: int
    out: int

    def setup(self):
        self.first = nn.Dense(self.hidden)
        self.second = nn.Dense(self.out)

    def __call__(self, x):
        return self.second(nn.tanh(self.first(x)))


model = MLP(hidden=6, out=2)
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.05))


def mse(params, x, y):
    return jnp.mean(optax.l2_loss(model.apply(params, x), y))


@jax.jit
def update(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(mse)(params, x, y)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def run():
    x = jax.random.normal(jax.random.PRNGKey(0), (8, 3))
    y = jnp.stack([x.sum(-1), x.prod(-1)], -1)
    params = model.init(jax.random.PRNGKey(1), x[:1])
    opt_state = tx.init(params)
    ema = params
    losses = []
    for _ in range(5):
        params, opt_state, loss = update(params, opt_state, x, y)
        ema = jax.tree_util.tree_map(lambda e, p: 0.9 * e + 0.1 * p, ema, params)
        losses.append(loss)
    batched = jax.vmap(model.apply, in_axes=(None, 0))(params, x)
    return losses, model.apply(ema, x), batched, optax.global_norm(params)
