"""`RMSNorm`: each element of the batch divided by the root mean square of its features."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from typed_nnx._core.module import Module
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.variable_types import Param
from typed_nnx.nn._parameters import NO_METADATA, Metadata, optional_param, scale_init
from typed_nnx.nn._statistics import (
    AxisIndexGroups,
    Devices,
    axes_of,
    check_features,
    check_mask,
    mean_square,
    normalized,
)
from typed_nnx.nn._typing import Array, Axes, Dtype, Initializer, PromoteDtypeFn
from typed_nnx.nn.dtypes import promote_dtype


class RMSNorm(Module):
    """Divides each element of the batch by the root mean square of its features, then scales them.

    >>> layer = RMSNorm(2, rngs=Rngs(0))
    >>> layer(jnp.array([[3.0, 3.0], [-7.0, 7.0]])).round(3).tolist()
    [[1.0, 1.0], [-1.0, 1.0]]

    Args:
        num_features: Size of the axes `feature_axes` of the inputs together.
        epsilon: Is added to the mean square.
        dtype: The dtype to compute in; None means what inputs and parameters promote to. The mean
            square is computed in float32 at least.
        param_dtype: The dtype of the parameters.
        use_scale: Whether to scale; without it `scale` is None.
        scale_init: Initializer of `scale`, [num_features].
        reduction_axes: The axes that the mean is taken over.
        feature_axes: The axes that have a scale for each element.
        axis_name: A mapped axis, of vmap or pmap, whose devices count together.
        axis_index_groups: Groups of them that count together.
        use_fast_variance: Changes nothing: no mean is subtracted.
        promote_dtype: What brings inputs and parameters to one dtype.
        rngs: Gives one key of the stream ``params`` (none without a scale).
        scale_metadata: Metadata of `scale`, such as ``out_sharding``.

    Source: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019.
    """

    scale: Param[jax.Array] | None

    def __init__(
        self,
        num_features: int,
        *,
        epsilon: float = 1e-6,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        use_scale: bool = True,
        scale_init: Initializer = scale_init,
        reduction_axes: Axes = -1,
        feature_axes: Axes = -1,
        axis_name: str | None = None,
        axis_index_groups: AxisIndexGroups = None,
        use_fast_variance: bool = True,
        promote_dtype: PromoteDtypeFn = promote_dtype,
        rngs: Rngs,
        scale_metadata: Metadata = NO_METADATA,
    ) -> None:
        self.scale = optional_param(
            use_scale, self, rngs, scale_init, (num_features,), param_dtype, scale_metadata
        )
        self.num_features: int = num_features
        self.epsilon: float = epsilon
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.use_scale: bool = use_scale
        self.reduction_axes: Axes = reduction_axes
        self.feature_axes: Axes = feature_axes
        self.axis_name: str | None = axis_name
        self.axis_index_groups: AxisIndexGroups = axis_index_groups
        self.use_fast_variance: bool = use_fast_variance
        self.promote_dtype: PromoteDtypeFn = promote_dtype

    def __call__(self, x: Array, mask: Array | None = None) -> Array:
        """Return the inputs normalized: [...] -> [...].

        Args:
            x: Any dtype, with `num_features` elements along `feature_axes`.
            mask: Boolean, broadcasts to `x`: False where an element does not count for the mean.

        Raises:
            LayerInputError: `x` lacks an axis or has another number of features, or `mask` does
                not fit.
        """
        name = type(self).__name__
        reduced = axes_of(name, "reduction_axes", self.reduction_axes, x)
        features = axes_of(name, "feature_axes", self.feature_axes, x)
        check_features(self, x, features, scale=self.scale)
        x, scale = self.promote_dtype(
            (x, None if self.scale is None else self.scale[...]), dtype=self.dtype
        )
        check_mask(name, mask, x.shape)
        devices = Devices(self.axis_name, self.axis_index_groups)
        square = mean_square(x, reduced, devices, mask=mask)
        return normalized(
            self, x, (None, square), (scale, None), reduced=reduced, features=features
        )
