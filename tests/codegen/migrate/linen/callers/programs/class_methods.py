"""Models that class methods and static methods construct."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class Chain(nn.Module):
    sizes: tuple

    @nn.compact
    def __call__(self, x):
        for size in self.sizes:
            x = nn.Dense(size)(x)
        return x

    @classmethod
    def equal(cls, size, count=2):
        return cls((size,) * count)

    @staticmethod
    def narrow():
        return Chain((2, 3))


def numbers(model, x):
    params = model.init(jax.random.PRNGKey(0), x)["params"]

    def loss(params):
        return jnp.mean(model.apply({"params": params}, x) ** 2)

    value, grads = jax.value_and_grad(loss)(params)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return value, model.apply({"params": params}, x)


def run():
    x = jnp.linspace(-1.0, 1.0, 12).reshape(4, 3)
    chain = Chain.equal(5)
    weights = chain.init(jax.random.PRNGKey(1), x)
    narrow = Chain.narrow()
    narrow_variables = narrow.init(jax.random.PRNGKey(2), x)
    return {
        "chain": chain.apply(weights, x),
        "narrow": narrow.apply(narrow_variables, x),
        "numbers": numbers(Chain.equal(3, 1), x),
    }
