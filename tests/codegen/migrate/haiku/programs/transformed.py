"""A program of Haiku: functions that are transformed, and what trains them."""

from typing import NamedTuple

import haiku as hk
import jax
import jax.numpy as jnp
import optax


class State(NamedTuple):
    params: hk.Params
    state: hk.State


def _norm(x):
    return hk.LayerNorm(-1, True, True)(x)


def _forward(x, is_training: bool):
    """The network."""
    x = hk.Conv2D(4, 3)(x)
    x = hk.BatchNorm(True, True, 0.9)(x, is_training)
    x = hk.Flatten()(x)
    x = _norm(x)
    x = hk.dropout(hk.next_rng_key(), 0.1, x) if is_training else x
    count = hk.get_state("count", [], init=jnp.zeros)
    hk.set_state("count", count + 1)
    return _norm(hk.nets.MLP([8, 3])(x)) * hk.get_parameter("scale", [3], init=jnp.ones)


forward = hk.transform_with_state(_forward)
net = hk.without_apply_rng(hk.transform(lambda x: hk.Linear(3)(x)))


@hk.transform
def loss_fn(x, y):
    return jnp.mean((hk.Linear(1)(jnp.tanh(hk.Linear(4)(x)))[:, 0] - y) ** 2)


@jax.jit
def update(params, key, x, y):
    return jax.value_and_grad(loss_fn.apply)(params, key, x, y)


def main():
    x = jnp.ones((2, 8, 8, 3))
    params, state = forward.init(jax.random.PRNGKey(0), x, True)
    out, state = forward.apply(params, state, jax.random.PRNGKey(1), x, True)
    train = State(params, state)
    out, _ = forward.apply(*train, None, x, is_training=False)
    p = net.init(jax.random.PRNGKey(0), x[:, 0, 0])
    y = net.apply(p, x[:, 0, 0])
    rng = hk.PRNGSequence(3)
    q = loss_fn.init(next(rng), x[:, 0, 0], jnp.ones(2))
    opt = optax.adam(1e-2)
    s = opt.init(q)
    for _ in range(20):
        loss, grads = update(q, next(rng), x[:, 0, 0], jnp.ones(2))
        updates, s = opt.update(grads, s)
        q = optax.apply_updates(q, updates)
    return out, y, loss, jax.tree.map(jnp.shape, (params, state, q))


if __name__ == "__main__":
    print(main())
