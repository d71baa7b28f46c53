"""Classes of other files, by their modules, through partials and functions."""

import functools

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

from . import parts, resnet
from .dec import blocks as dec_blocks
from .enc import blocks
from .loose.nnx import Head
from .resnet import ModuleDef, Stem


class Net(nn.Module):
    widths: tuple = (4, 8)

    @nn.compact
    def __call__(self, x):
        block = functools.partial(resnet.ResidualBlock, act=nn.gelu)
        x = Stem()(x)
        for i, w in enumerate(self.widths):
            x = block(w, strides=(2, 2) if i else (1, 1))(x)
        return nn.Dense(resnet.WIDTH)(x.mean((1, 2)))


class BlockField(nn.Module):
    block: ModuleDef = functools.partial(resnet.ResidualBlock, act=nn.tanh)

    def setup(self):
        self.a = self.block(4)
        self.b = self.block(filters=4)

    def __call__(self, x):
        return self.b(self.a(x))


class Auto(nn.Module):
    width: int = blocks.WIDTH

    def setup(self):
        self.encoder = blocks.Block(self.width)
        self.decoder = dec_blocks.Block(dec_blocks.WIDTH)

    def __call__(self, x):
        return self.decoder(self.encoder(x))


class AutoCompact(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = blocks.Block()(x)
        x = dec_blocks.Block()(x)
        return nn.Dense(blocks.WIDTH + dec_blocks.WIDTH)(x)


def make(block=resnet.ResidualBlock):
    return functools.partial(block, 4)


class Made(nn.Module):
    @nn.compact
    def __call__(self, x):
        return make()()(x)


class Derived(resnet.ResidualBlock):
    scale: float = 2.0

    @nn.compact
    def __call__(self, x):
        y = self.conv(self.filters, (resnet.WIDTH, 1))(x)
        return self.act(y) * self.scale


class Hidden(nn.Module):
    @nn.compact
    def __call__(self, x):
        bias = self.param("bias", nn.initializers.ones, (3,))
        return Head()(parts.mlp(parts.MLP(4)(x))) + bias


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
IMAGE = jnp.sin(jnp.arange(2 * 8 * 8 * 4.0)).reshape(2, 8, 8, 4)

EXAMPLES = [
    Example(Build("Net"), IMAGE),
    Example(Build("BlockField"), IMAGE),
    Example(Build("Auto"), X),
    Example(Build("Auto", 3), X),
    Example(Build("AutoCompact"), X),
    Example(Build("Made"), IMAGE),
    Example(Build("Derived", 3), IMAGE),
    Example(Build("Hidden"), X),
]
