"""A `setup` that several classes have."""

import functools

import flax.linen as nn
import jax.numpy as jnp


class Mixer(nn.Module):
    """Classes inherit its `setup`; the sizes in their constructors differ."""

    size: int
    heads: int = 2

    def setup(self):
        dense = functools.partial(nn.DenseGeneral, features=[self.heads, 4], axis=-1)
        self.query = dense(name="to_q")
        self.key = dense(name="to_k")
        self.out = nn.DenseGeneral(self.size, axis=(-2, -1), name="to_out")

    @nn.compact
    def __call__(self, x, context=None):
        context = x if context is None else context
        y = self.query(x) * jnp.mean(self.key(context), axis=1, keepdims=True)
        return self.out(y)


class TurnedMixer(Mixer):
    is_turned: bool = True

    @nn.compact
    def __call__(self, x):
        y = super().__call__(x)
        return -y if self.is_turned else y


class WideMixer(Mixer):
    @nn.compact
    def __call__(self, x, context):
        wide = jnp.concatenate([x, context], axis=-1)
        y = self.query(wide) * jnp.mean(self.key(context), axis=1, keepdims=True)
        return self.out(y)
