"""Modules that ask whether batch statistics are mutable: calls say so."""

import jax
import jax.numpy as jnp
from flax import linen as nn


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(self.width)(x)
        is_training = self.is_mutable_collection("batch_stats")
        h = nn.BatchNorm(use_running_average=not is_training, momentum=0.5)(h)
        return h if is_training else 2.0 * h


class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Block(2)(nn.relu(Block(5)(x)))


def trained():
    x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
    model = Model()
    variables = model.init(jax.random.key(0), x)
    first = model.apply(variables, x)
    y, updates = model.apply(variables, x, mutable=["batch_stats"])
    after = model.apply({**variables, **updates}, x)
    return first, y, after, model.apply(variables, x, mutable=False)


def evaluated():
    x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
    model = Model()
    variables = model.init(jax.random.key(0), x)
    return jax.jit(lambda x: model.apply(variables, x))(x)


def bound():
    x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
    model = Block(3)
    variables = model.init(jax.random.key(0), x)
    return model.bind(variables)(x), model.bind(variables, mutable=["batch_stats"])(x)


def run():
    return trained(), evaluated(), bound()
