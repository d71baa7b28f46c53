"""`init` and `apply` as examples show them: with the variables as they were made."""

import jax
import jax.numpy as jnp
from flax import linen as nn


class Inner(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.gelu(nn.Dense(self.width)(x))


class Model(nn.Module):
    width: int

    def setup(self):
        self.inner = Inner(self.width)
        self.norm = nn.BatchNorm(use_running_average=True)
        self.last = nn.Dense(2)

    def __call__(self, x, flip=False):
        h = self.norm(self.inner(x))
        return self.last(-h if flip else h)

    def features(self, x):
        return self.inner(x)


def simple():
    x = jnp.arange(12.0).reshape(4, 3) / 10
    model = Model(width=5)
    variables = model.init(jax.random.key(0), x)
    y = model.apply(variables, x)
    flipped = jax.jit(lambda x: model.apply(variables, x, flip=True))(x)
    features = model.apply(variables, x, method=Model.features)
    return y, flipped, features


def with_gradient():
    x = jnp.ones((2, 3))
    model = Model(4)
    variables = model.init(jax.random.key(1), x)

    def loss(params):
        return model.apply({**variables, "params": params}, x).sum()

    grads = jax.grad(loss)(variables["params"])
    return model.apply(variables, x), sum(jnp.abs(g).sum() for g in jax.tree.leaves(grads))


def params_only():
    x = jnp.ones((2, 3))
    model = Inner(4)
    params = model.init(jax.random.key(1), x)["params"]
    y = model.apply({"params": params}, x)
    grads = jax.grad(lambda params: model.apply({"params": params}, x).sum())(params)
    params = jax.tree.map(lambda p, g: p - g, params, grads)
    return y, model.apply({"params": params}, x)


def run():
    return simple(), with_gradient(), params_only()
