"""`flax.core.pop` of variables, and `apply` as an argument of a jitted function."""

import functools

import flax
import flax.linen as nn
import jax
import optax


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, training=False):
        x = nn.Dense(6)(x)
        x = nn.BatchNorm(use_running_average=not training)(x)
        return nn.Dense(2)(x)


def run():
    model = Net()
    x = jax.random.normal(jax.random.PRNGKey(0), (4, 3))
    variables = model.init(jax.random.PRNGKey(1), x)
    state, params = flax.core.pop(variables, "params")
    tx = optax.sgd(0.1)
    opt_state = tx.init(params)

    @functools.partial(jax.jit, static_argnums=(0,))
    def update_step(apply_fn, x, opt_state, params, state):
        def loss_of(params):
            y, updated_state = apply_fn(
                {"params": params, **state}, x, training=True, mutable=list(state.keys())
            )
            return (y**2).sum(), updated_state

        (loss, updated_state), grads = jax.value_and_grad(loss_of, has_aux=True)(params)
        updates, opt_state = tx.update(grads, opt_state)
        params = optax.apply_updates(params, updates)
        return opt_state, params, updated_state, loss

    out = []
    for _ in range(3):
        opt_state, params, state, loss = update_step(model.apply, x, opt_state, params, state)
        out.append(loss)
    predict = jax.jit(functools.partial(model.apply, training=False))
    return out, predict({"params": params, **state}, x)
