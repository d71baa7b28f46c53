"""Layers that belong to no module: their parameters are those of the module."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class Standardized(nn.Module):
    """The kernel of a convolution is standardized whenever it is called."""

    features: int
    size: tuple = (3, 3)
    use_bias: bool = True

    @nn.compact
    def __call__(self, x):
        conv = nn.Conv(self.features, self.size, use_bias=self.use_bias, parent=None)

        def first_kernel(key, inputs):
            return conv.init(key, inputs)["params"]["kernel"]

        kernel = self.param("kernel", first_kernel, x)
        axes = tuple(range(kernel.ndim - 1))
        kernel = kernel - jnp.mean(kernel, axis=axes, keepdims=True)
        bias = self.param("offset", lambda key, inputs: conv.init(key, inputs)["params"]["bias"], x)
        return conv.apply({"params": {"kernel": kernel, "bias": bias}}, x)


class Around(nn.Module):
    """Layers that belong to no module are not counted in names."""

    @nn.compact
    def __call__(self, x):
        dense = nn.Dense(4, use_bias=False, parent=None)
        kernel = self.param("w", lambda key, y: dense.init(key, y)["params"]["kernel"], x)
        y = nn.Dense(4)(x) + dense.apply({"params": {"kernel": nn.tanh(kernel)}}, x)
        y = Standardized(3)(y[:, :, None, :])
        return nn.Dense(2)(y)


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


class Chosen(nn.Module):
    """The same parameters are in different places, by the class that a field chooses."""

    is_plain: bool = False

    def setup(self):
        if self.is_plain:
            self.part = nn.Conv(3, (3, 3))
        else:
            self.part = Renamed(3)

    def __call__(self, x):
        return self.part(x)


class Renamed(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        conv = nn.Conv(self.features, (3, 3), parent=None)
        kernel = self.param("kernel", lambda key, y: conv.init(key, y)["params"]["kernel"], x)
        bias = self.param("bias", lambda key, y: conv.init(key, y)["params"]["bias"], x)
        return conv.apply({"params": {"kernel": 2.0 * kernel, "bias": bias}}, x)
