"""Activation functions, which are jax's own, and `PReLU`, which has a parameter."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.nn import celu as celu
from jax.nn import elu as elu
from jax.nn import gelu as gelu
from jax.nn import glu as glu
from jax.nn import hard_sigmoid as hard_sigmoid
from jax.nn import hard_silu as hard_silu
from jax.nn import hard_swish as hard_swish
from jax.nn import hard_tanh as hard_tanh
from jax.nn import identity as identity
from jax.nn import leaky_relu as leaky_relu
from jax.nn import log_sigmoid as log_sigmoid
from jax.nn import log_softmax as log_softmax
from jax.nn import logsumexp as logsumexp
from jax.nn import one_hot as one_hot
from jax.nn import relu as relu
from jax.nn import relu6 as relu6
from jax.nn import selu as selu
from jax.nn import sigmoid as sigmoid
from jax.nn import silu as silu
from jax.nn import soft_sign as soft_sign
from jax.nn import softmax as softmax
from jax.nn import softplus as softplus
from jax.nn import standardize as standardize
from jax.nn import swish as swish
from jax.numpy import tanh as tanh

from typed_nnx._core.modules import Module
from typed_nnx._core.variable_types import Param
from typed_nnx.nn._layers import NO_METADATA, Array, Dtype, Metadata, PromoteDtypeFn
from typed_nnx.nn.dtypes import promote_dtype


class PReLU(Module):
    """The rectifier whose slope for negative inputs is learned.

    >>> layer = PReLU(0.25)
    >>> layer(jnp.array([-4.0, 2.0])).tolist()
    [-1.0, 2.0]

    Args:
        negative_slope_init: The first slope: a number, or an array that broadcasts against the
            inputs for a slope of each feature.
        dtype: The dtype to compute in; None means that of the inputs.
        param_dtype: The dtype of the slope.
        promote_dtype: What brings inputs and slope to one dtype.
        negative_slope_metadata: Metadata of `negative_slope`.

    Source: He et al., "Delving Deep into Rectifiers", 2015.
    """

    negative_slope: Param[jax.Array]

    def __init__(
        self,
        negative_slope_init: float = 0.01,
        *,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        promote_dtype: PromoteDtypeFn = promote_dtype,
        negative_slope_metadata: Metadata = NO_METADATA,
    ) -> None:
        self.negative_slope = Param(
            jnp.asarray(negative_slope_init, dtype=param_dtype), **negative_slope_metadata
        )
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.promote_dtype: PromoteDtypeFn = promote_dtype

    def __call__(self, inputs: Array) -> Array:
        """Return the inputs, the negative ones times the slope: [...] -> [...]."""
        slope = self.negative_slope[...]
        if self.dtype is None:
            slope = slope.astype(jnp.result_type(inputs))
        else:
            inputs, slope = self.promote_dtype((inputs, slope), dtype=self.dtype)
        return jnp.where(inputs >= 0, inputs, slope * inputs)
