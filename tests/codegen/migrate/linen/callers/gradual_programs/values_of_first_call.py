"""A layer that takes its first values from data, in a flow whose parts are used from outside."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class Scale(nn.Module):
    @nn.compact
    def __call__(self, x):
        shift = self.param("shift", lambda _: -x.mean(0))
        scale = self.param("scale", lambda _: -jnp.log(x.std(0) + 1e-6))
        return (x + shift) * jnp.exp(scale)


class Flow(nn.Module):
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = Scale()(x)
        return x


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.tanh(nn.Dense(3)(x)))


def run():
    x = jnp.sin(jnp.arange(12.0)).reshape(6, 2)
    results = []
    for model in (Flow(), Net()):
        variables = model.init(jax.random.key(1), x)
        loss = jax.jit(lambda p, model=model: jnp.sum(model.apply({"params": p}, x) ** 2))
        results.append((loss(variables["params"]), jax.grad(loss)(variables["params"])))
    return [jax.tree.leaves(one) for one in results]
