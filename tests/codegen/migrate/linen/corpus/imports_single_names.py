"""Names of Linen, one by one, some under another name."""

from flax.linen import Conv, Dense, LayerNorm, Module, compact, relu
from flax.linen import Dropout as Drop
from flax.linen.initializers import lecun_normal, zeros
from flax.linen.linear import Embed
from jax import numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class SingleNames(Module):
    width: int

    @compact
    def __call__(self, x, train: bool = False):
        x = Dense(self.width, kernel_init=lecun_normal(), bias_init=zeros)(x)
        x = LayerNorm()(relu(x))
        x = Drop(0.3)(x, deterministic=not train)
        return Dense(2)(x)


class SingleNamesConv(Module):
    @compact
    def __call__(self, images, labels):
        x = Conv(4, kernel_size=(3, 3))(images)
        x = x.mean(axis=(-3, -2))
        return Dense(3)(jnp.concatenate([x, Embed(5, 2)(labels)], axis=1))


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
IMAGES = jnp.sin(jnp.arange(2 * 4 * 4 * 3.0)).reshape(2, 4, 4, 3)

EXAMPLES = [
    Example(Build("SingleNames", 4), X),
    Example(Build("SingleNamesConv"), IMAGES, jnp.array([1, 4])),
]
