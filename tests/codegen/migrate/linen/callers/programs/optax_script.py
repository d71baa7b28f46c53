"""A script in one function, with the parameters apart and a dropout key in each step."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.tanh(nn.Dense(6)(x))
        x = nn.Dropout(0.0, deterministic=not train)(x)
        return nn.Dense(2)(x)


def run():
    key = jax.random.PRNGKey(0)
    x = jnp.linspace(-1.0, 1.0, 12).reshape(4, 3)
    net = Net()
    params = net.init(jax.random.PRNGKey(1), x, train=False)["params"]
    optimizer = optax.sgd(0.1, momentum=0.9)
    opt_state = optimizer.init(params)

    @jax.jit
    def step(params, opt_state, x, key):
        def loss(p):
            out = net.apply({"params": p}, x, train=True, rngs={"dropout": key})
            return (out**2).mean(), out

        (value, out), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        norm = optax.global_norm(grads)
        params = optax.apply_updates(params, updates)
        return params, opt_state, value, norm, out

    values = []
    for number in range(3):
        key, sub = jax.random.split(key)
        params, opt_state, value, norm, out = step(params, opt_state, x, sub)
        values.append((value, norm, out))
    return values, net.apply({"params": params}, x, train=False)
