"""Methods that are called of a module without variables: they read fields, and call `apply`."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Walker(nn.Module):
    width: int
    rate: float = 0.1

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(nn.tanh(nn.Dense(3)(x)))

    @property
    def doubled(self):
        return 2 * self.width

    @staticmethod
    def optimizer(rate):
        return optax.sgd(rate)

    def configured(self):
        return self.optimizer(self.rate)

    def walked(self, params, x, steps):
        def step(x, _):
            x = self.apply({"params": params}, x)
            return x, x.sum()

        return jax.lax.scan(step, x, None, length=steps)


def made(width):
    return Walker(width)


def run():
    walker = made(2)
    x = jnp.ones((1, 2))
    params = walker.init(jax.random.key(0), x)["params"]
    tx = walker.configured()
    grads = jax.grad(lambda p: walker.walked(p, x, 2)[0].sum())(params)
    updates, _ = tx.update(grads, tx.init(params))
    params = optax.apply_updates(params, updates)
    return walker.walked(params, x, 3), walker.doubled
