"""Layers that belong to no module: their parameters are those of the module."""

import flax.linen as nn
import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class OnlyKernel(nn.Module):
    """The bias of the layer is none of the module: a person must look."""

    @nn.compact
    def __call__(self, x):
        dense = nn.Dense(4, parent=None)
        kernel = self.param("kernel", lambda key, y: dense.init(key, y)["params"]["kernel"], x)
        return dense.apply({"params": {"kernel": kernel, "bias": jnp.ones(4)}}, x)


class Fixed(nn.Module):
    """The numbers of the layer are no parameters at all: a person must look."""

    @nn.compact
    def __call__(self, x):
        dense = nn.Dense(4, parent=None)
        variables = dense.init(jax.random.key(3), x)
        return dense.apply({"params": variables["params"]}, x)


X = jnp.linspace(-1.0, 1.0, 45).reshape(3, 3, 5)

EXAMPLES = [
    Example(Build("OnlyKernel"), X),
    Example(Build("Fixed"), X),
]
