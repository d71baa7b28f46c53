"""Layers that compute in the dtype of an array of the call."""

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class TypedByAnother(nn.Module):
    """Layers in the dtype of another array, which is no dtype of the inputs."""

    features: int

    @nn.compact
    def __call__(self, x, y):
        h = nn.Dense(self.features, dtype=y.dtype)(x)
        h = nn.DenseGeneral((2, 3), dtype=x.dtype)(h.astype(jnp.float32) + 1.0)
        return nn.DenseGeneral(2, axis=(-2, -1), dtype=y.dtype)(jnp.tanh(h)), h


class TypedConvolution(nn.Module):
    """A convolution in the dtype of the images."""

    @nn.compact
    def __call__(self, images):
        h = nn.Conv(4, (3, 3), strides=(2, 2), dtype=images.dtype)(images)
        return nn.ConvTranspose(3, (2, 2), dtype=images.dtype)(h)


class TypedAgain(nn.Module):
    """One layer, called twice with arrays of other dtypes."""

    @nn.compact
    def __call__(self, x):
        dense = nn.Dense(x.shape[-1], dtype=x.dtype)
        h = dense(x).astype(jnp.float32)
        return dense(h * 2.0)


class ReboundBeforeTheCall(nn.Module):
    """The name of the array has another array where the layer is called."""

    @nn.compact
    def __call__(self, x):
        dense = nn.Dense(3, dtype=x.dtype)
        x = x.astype(jnp.float32)
        return dense(x)


class TypedNorms(nn.Module):
    """Norms whose results alone have the dtype of their inputs."""

    @nn.compact
    def __call__(self, x):
        h = nn.LayerNorm(dtype=x.dtype, name="norm")(x)
        h = nn.RMSNorm(dtype=h.dtype, epsilon=1e-5)(h) * 2.0
        return nn.LayerNorm(dtype=h.dtype, use_scale=False, use_bias=False)(h)


class TypedByAnotherNorm(nn.Module):
    """A norm whose result has the dtype of another array."""

    @nn.compact
    def __call__(self, x, y):
        return nn.LayerNorm(dtype=y.dtype)(x)


class TypedFirstValues(nn.Module):
    """Parameters whose first values functions make in the dtype of the inputs."""

    alpha: float = 0.5

    @nn.compact
    def __call__(self, x):
        def zeros(key):
            return jnp.zeros(x.shape[-1:], x.dtype)

        scale = self.param("scale", lambda key, shape: jnp.ones(shape, x.dtype), x.shape[-1:])
        alpha = self.param("alpha", lambda key: jnp.asarray(self.alpha, dtype=x.dtype))
        return scale * jnp.tanh(alpha * x) + self.param("bias", zeros)


class TypedByALocal(nn.Module):
    """A local has the dtype of the inputs, for first values and what makes them."""

    @nn.compact
    def __call__(self, x):
        dtype = x.dtype
        init = nn.initializers.truncated_normal(stddev=0.5 / jnp.array(0.88, dtype))
        kernel = self.param("kernel", init, (x.shape[-1], 3), dtype=dtype)
        bias = self.param("bias", nn.initializers.zeros, (3,), dtype)
        return nn.Dense(2)(x @ kernel + bias)


_X = jnp.linspace(-1.0, 1.0, 20).reshape(4, 5)
_HALF = _X.astype(jnp.bfloat16)

EXAMPLES = [
    Example(Build("TypedByAnother", 6), _X, _HALF),
    Example(Build("TypedByAnother", 6), _HALF, _X, name="half"),
    Example(Build("TypedConvolution"), jnp.ones((2, 6, 6, 3), jnp.bfloat16)),
    Example(Build("TypedAgain"), _HALF),
    Example(Build("ReboundBeforeTheCall"), _HALF),
    Example(Build("TypedNorms"), _HALF),
    Example(Build("TypedNorms"), _X, name="full"),
    Example(Build("TypedByAnotherNorm"), _X, _HALF),
    Example(Build("TypedByAnotherNorm"), _HALF, _X, name="half"),
    Example(Build("TypedFirstValues"), _X),
    Example(Build("TypedByALocal"), _X),
]
