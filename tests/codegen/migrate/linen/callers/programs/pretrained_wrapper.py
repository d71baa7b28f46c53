"""A class around a module that subclasses name, and a train state that is made twice."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class Encoder(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(nn.tanh(nn.Dense(3)(x)))


class Pretrained:
    module_class: nn.Module = None

    def __init__(self, width, seed=0, **kwargs):
        self.module = self.module_class(width=width, **kwargs)
        self.params = self.module.init(jax.random.key(seed), jnp.ones((1, 3)))["params"]

    def __call__(self, x, params=None):
        return self.module.apply({"params": params or self.params}, x)


class Model(Pretrained):
    module_class = Encoder


def restored(x):
    model = Encoder(2)

    def create(key):
        params = model.init(key, x)["params"]
        return TrainState.create(apply_fn=model.apply, params=params, tx=tx)

    tx = optax.sgd(0.1)
    shapes = jax.eval_shape(create, jax.random.key(0))
    state = create(jax.random.key(0))
    same = jax.tree.map(lambda one, other: one.shape == jnp.shape(other), shapes, state)
    return state.apply_fn({"params": state.params}, x), jax.tree.all(same)


def run():
    x = jnp.linspace(-1.0, 1.0, 6).reshape(2, 3)
    return Model(4)(x), restored(x)
