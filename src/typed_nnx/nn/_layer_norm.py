"""`LayerNorm`: each element of the batch normalized over its own features."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from typed_nnx._core.module import Module
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.variable_types import Param
from typed_nnx.nn._parameters import NO_METADATA, Metadata, bias_init, optional_param, scale_init
from typed_nnx.nn._statistics import (
    AxisIndexGroups,
    Devices,
    axes_of,
    check_features,
    check_mask,
    mean_and_variance,
    normalized,
)
from typed_nnx.nn._typing import Array, Axes, Dtype, Initializer, PromoteDtypeFn
from typed_nnx.nn.dtypes import promote_dtype


class LayerNorm(Module):
    """Normalizes each element of the batch over its features, then scales and shifts the features.

    >>> layer = LayerNorm(2, rngs=Rngs(0))
    >>> layer(jnp.array([[1.0, 3.0], [10.0, 30.0]])).round(3).tolist()
    [[-1.0, 1.0], [-1.0, 1.0]]

    Args:
        num_features: Size of the axes `feature_axes` of the inputs together.
        epsilon: Is added to the variance.
        dtype: The dtype to compute in; None means what inputs and parameters promote to. Mean and
            variance are computed in float32 at least.
        param_dtype: The dtype of the parameters.
        use_bias: Whether to shift; without it `bias` is None.
        use_scale: Whether to scale; without it `scale` is None.
        bias_init: Initializer of `bias`, [num_features].
        scale_init: Initializer of `scale`, [num_features].
        reduction_axes: The axes that mean and variance are taken over.
        feature_axes: The axes that have a scale and a bias for each element.
        axis_name: A mapped axis, of vmap or pmap, whose devices count together.
        axis_index_groups: Groups of them that count together.
        use_fast_variance: Whether the variance is computed as ``E[x²] - E[x]²``, in one pass.
        promote_dtype: What brings inputs and parameters to one dtype.
        rngs: Gives a key of the stream ``params`` for each of `scale` and `bias`.
        bias_metadata: Metadata of `bias`, such as ``out_sharding``.
        scale_metadata: Metadata of `scale`.

    Source: Ba, Kiros and Hinton, "Layer Normalization", 2016.
    """

    scale: Param[jax.Array] | None
    bias: Param[jax.Array] | None

    def __init__(
        self,
        num_features: int,
        *,
        epsilon: float = 1e-6,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        use_bias: bool = True,
        use_scale: bool = True,
        bias_init: Initializer = bias_init,
        scale_init: Initializer = scale_init,
        reduction_axes: Axes = -1,
        feature_axes: Axes = -1,
        axis_name: str | None = None,
        axis_index_groups: AxisIndexGroups = None,
        use_fast_variance: bool = True,
        promote_dtype: PromoteDtypeFn = promote_dtype,
        rngs: Rngs,
        bias_metadata: Metadata = NO_METADATA,
        scale_metadata: Metadata = NO_METADATA,
    ) -> None:
        self.scale = optional_param(
            use_scale, self, rngs, scale_init, (num_features,), param_dtype, scale_metadata
        )
        self.bias = optional_param(
            use_bias, self, rngs, bias_init, (num_features,), param_dtype, bias_metadata
        )
        self.num_features: int = num_features
        self.epsilon: float = epsilon
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.use_bias: bool = use_bias
        self.use_scale: bool = use_scale
        self.reduction_axes: Axes = reduction_axes
        self.feature_axes: Axes = feature_axes
        self.axis_name: str | None = axis_name
        self.axis_index_groups: AxisIndexGroups = axis_index_groups
        self.use_fast_variance: bool = use_fast_variance
        self.promote_dtype: PromoteDtypeFn = promote_dtype

    def __call__(self, x: Array, *, mask: Array | None = None) -> Array:
        """Return the inputs normalized: [...] -> [...].

        Args:
            x: Any dtype, with `num_features` elements along `feature_axes`.
            mask: Boolean, broadcasts to `x`: False where an element does not count for mean and
                variance.

        Raises:
            LayerInputError: `x` lacks an axis or has another number of features, or `mask` does
                not fit.
        """
        name = type(self).__name__
        reduced = axes_of(name, "reduction_axes", self.reduction_axes, x)
        features = axes_of(name, "feature_axes", self.feature_axes, x)
        check_features(self, x, features, scale=self.scale, bias=self.bias)
        x, scale, bias = self.promote_dtype(
            (
                x,
                None if self.scale is None else self.scale[...],
                None if self.bias is None else self.bias[...],
            ),
            dtype=self.dtype,
        )
        check_mask(name, mask, x.shape)
        statistics = mean_and_variance(
            x,
            reduced,
            Devices(self.axis_name, self.axis_index_groups),
            use_fast_variance=self.use_fast_variance,
            mask=mask,
        )
        return normalized(self, x, statistics, (scale, bias), reduced=reduced, features=features)
