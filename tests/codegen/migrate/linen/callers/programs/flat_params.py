"""Parameters as one vector, and a population of them under `jax.vmap`."""

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree


class Policy(nn.Module):
    actions: int = 2

    @nn.compact
    def __call__(self, x):
        x = nn.tanh(nn.Dense(4)(x))
        return nn.Dense(self.actions)(x)


def run():
    policy = Policy()
    x = jax.random.normal(jax.random.PRNGKey(1), (3,))
    params = policy.init(jax.random.PRNGKey(0), x)
    flat, unravel = ravel_pytree(params)
    noise = jax.random.normal(jax.random.PRNGKey(2), (6, flat.size)) * 0.1

    def score(theta):
        return policy.apply(unravel(theta), x).sum()

    scores = jax.vmap(score)(flat + noise)
    best = unravel(flat + noise[jnp.argmax(scores)])
    return jnp.sort(scores).shape[0], policy.apply(best, x).shape
