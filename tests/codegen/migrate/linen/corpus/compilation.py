"""remat and jit within modules; shared scopes."""

import functools

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Layer(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, mask=None, train: bool = False):
        x = nn.Dense(self.width)(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        return x if mask is None else x * mask


class RematByKeyword(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        x = nn.remat(Layer, static_argnums=(3,))(4)(x, None, train)
        x = nn.remat(Layer)(3, name="second")(x, mask=jnp.ones(3))
        return Layer(2)(x, train=train)


class RematMethods(nn.Module):
    width: int

    def setup(self):
        self.a = nn.Dense(self.width)
        self.b = nn.Dense(3)

    @functools.partial(nn.remat, static_argnums=(2,))
    def first(self, x, twice):
        return nn.relu(self.a(x)) * (2 if twice else 1)

    @nn.checkpoint
    def second(self, x):
        return self.b(x)

    def __call__(self, x):
        return self.second(self.first(x, True))


class InCompact(nn.Module):
    @nn.compact
    def __call__(self, x):
        layer = nn.Dense(3, name="layer")
        nn.share_scope(self, layer)
        return layer(x)


X = jnp.linspace(-1, 1.5, 10).reshape(2, 5)

EXAMPLES = [
    Example(Build("RematByKeyword"), X, mutable=("batch_stats",), train=True),
    Example(Build("RematMethods", 4), X),
    Example(Build("InCompact"), X),
]
