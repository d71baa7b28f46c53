"""Models that class methods, static methods and functions construct, with modules in fields."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class Mlp(nn.Module):
    hidden: int = 8

    @nn.compact
    def __call__(self, x):
        h = nn.gelu(nn.Dense(self.hidden)(x))
        return nn.Dense(x.shape[-1])(h)


class Block(nn.Module):
    mixer: nn.Module
    mlp: nn.Module

    @nn.compact
    def __call__(self, x):
        x = x + self.mixer(nn.LayerNorm()(x))
        return x + self.mlp(x)

    @classmethod
    def of_size(cls, size, *, wide=2):
        hidden = size * wide
        return cls(mixer=Mlp(size), mlp=Mlp(hidden=hidden))

    @staticmethod
    def narrow():
        return Block(mixer=Mlp(2), mlp=Mlp(3))


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


def make_block(size):
    return Block(mixer=Mlp(size), mlp=Mlp(hidden=size * 2))


def numbers(model, x):
    params = model.init(jax.random.PRNGKey(0), x)["params"]

    def loss(params):
        return jnp.mean(model.apply({"params": params}, x) ** 2)

    value, grads = jax.value_and_grad(loss)(params)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return value, model.apply({"params": params}, x)


def run():
    x = jnp.linspace(-1.0, 1.0, 12).reshape(4, 3)
    first = Block.of_size(4)
    variables = first.init(jax.random.PRNGKey(0), x)
    chain = Chain.equal(5)
    weights = chain.init(jax.random.PRNGKey(1), x)
    narrow = Block.narrow()
    narrow_variables = narrow.init(jax.random.PRNGKey(2), x)
    made = make_block(2)
    made_variables = made.init(jax.random.PRNGKey(3), x)
    return {
        "first": first.apply(variables, x),
        "chain": chain.apply(weights, x),
        "narrow": narrow.apply(narrow_variables, x),
        "made": made.apply(made_variables, x),
        "numbers": numbers(Chain.equal(3, 1), x),
    }
