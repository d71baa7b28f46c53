"""Small layers with the attributes, initial values and arithmetic of NNX's own.

The examples of the seed documents use ``nnx.Linear`` and its kin, which come with a later issue.
These stand-ins draw the same keys in the same order and compute in the same order, so that the
printed results of the documents come true; `tests/support/test_layers.py` compares them with
flax bit by bit.
"""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
from jax import lax

import typed_nnx as nnx

lecun_normal = jax.nn.initializers.lecun_normal()


def along_features(vector: jax.Array, ndim: int) -> jax.Array:
    """Reshape float [features] to rank `ndim`, so that no rank is promoted silently."""
    return vector.reshape((1,) * (ndim - 1) + (-1,))


def promote_dtype(*arrays: jax.Array) -> tuple[jax.Array, ...]:
    """Stand in for the function that NNX layers keep as an attribute and print."""
    return arrays


class Linear(nnx.Module):
    """An affine map: float [..., in_features] -> float [..., out_features]."""

    def __init__(self, in_features: int, out_features: int, *, rngs: nnx.Rngs) -> None:
        """Draw one key for the kernel and one for the bias, as NNX does even for zeros."""
        self.kernel = nnx.Param(lecun_normal(rngs.params(), (in_features, out_features)))
        rngs.params()
        self.bias = nnx.Param(jnp.zeros((out_features,)))
        self.in_features = in_features
        self.out_features = out_features
        self.use_bias = True
        self.dtype = None
        self.param_dtype = jnp.float32
        self.precision = None
        self.dot_general = lax.dot_general
        self.promote_dtype = promote_dtype
        self.preferred_element_type = None

    def __call__(self, x: jax.Array) -> jax.Array:
        """Multiply and add."""
        contract = (((x.ndim - 1,), (0,)), ((), ()))
        y = self.dot_general(x, self.kernel[...], contract)
        return y + along_features(self.bias[...], y.ndim)


class BatchNorm(nnx.Module):
    """Normalise float [batch, num_features] by the statistics of the batch."""

    def __init__(self, num_features: int, *, rngs: nnx.Rngs) -> None:
        """Draw one key each for scale and bias, as NNX does even for ones and zeros."""
        self.mean = nnx.BatchStat(jnp.zeros((num_features,)))
        self.var = nnx.BatchStat(jnp.ones((num_features,)))
        rngs.params()
        self.scale = nnx.Param(jnp.ones((num_features,)))
        rngs.params()
        self.bias = nnx.Param(jnp.zeros((num_features,)))
        self.num_features = num_features
        self.use_running_average = False
        self.momentum = 0.99
        self.epsilon = 1e-5

    def __call__(self, x: jax.Array) -> jax.Array:
        """Normalise, and move the running statistics while training."""
        if self.use_running_average:
            mean, var = self.mean[...], self.var[...]
        else:
            mean = x.mean(0)
            var = jnp.maximum(0.0, lax.square(x).mean(0) - lax.square(mean))
            keep = self.momentum
            self.mean[...] = keep * self.mean[...] + (1 - keep) * mean
            self.var[...] = keep * self.var[...] + (1 - keep) * var
        scale = lax.rsqrt(var + self.epsilon) * self.scale[...]
        mean, scale, bias = (along_features(v, x.ndim) for v in (mean, scale, self.bias[...]))
        return (x - mean) * scale + bias


class Dropout(nnx.Module):
    """Zero a share `rate` of the elements and scale the others up."""

    def __init__(self, rate: float, *, rngs: nnx.Rngs) -> None:
        """Fork the ``dropout`` stream (or the default one), so that no other draw shifts it."""
        self.rate = rate
        self.broadcast_dims = ()
        self.deterministic = False
        self.rng_collection = "dropout"
        self.rngs = rngs[self.rng_collection].fork()

    def __call__(self, x: jax.Array) -> jax.Array:
        """Drop while training; return `x` otherwise."""
        if self.deterministic:
            return x
        keep = 1.0 - self.rate
        mask = jax.random.bernoulli(self.rngs(), keep, x.shape)
        return lax.select(mask, x / keep, jnp.zeros_like(x))


class Conv(nnx.Module):
    """A 2-D convolution of stride 1: float [batch, height, width, in_features] -> [..., out]."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        kernel_size: tp.Sequence[int],
        *,
        padding: str,
        rngs: nnx.Rngs,
    ) -> None:
        """Draw one key for the kernel and one for the bias."""
        shape = (*kernel_size, in_features, out_features)
        self.kernel = nnx.Param(lecun_normal(rngs.params(), shape))
        rngs.params()
        self.bias = nnx.Param(jnp.zeros((out_features,)))
        self.in_features = in_features
        self.out_features = out_features
        self.padding = padding

    def __call__(self, x: jax.Array) -> jax.Array:
        """Convolve and add."""
        y = lax.conv_general_dilated(
            x, self.kernel[...], (1, 1), self.padding, dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        return y + along_features(self.bias[...], y.ndim)


def max_pool(
    x: jax.Array, window_shape: tuple[int, int], strides: tuple[int, int] = (1, 1)
) -> jax.Array:
    """Take the maximum of each window of float [batch, height, width, features]."""
    window, steps = (1, *window_shape, 1), (1, *strides, 1)
    return lax.reduce_window(x, -jnp.inf, lax.max, window, steps, "VALID")
