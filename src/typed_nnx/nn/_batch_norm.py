"""`BatchNorm`: features normalized over the batch, by running averages when not training."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from typed_nnx._core.module import Module
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.variable_types import BatchStat, Param
from typed_nnx.nn._modes import first_set
from typed_nnx.nn._parameters import NO_METADATA, Metadata, bias_init, optional_param, scale_init
from typed_nnx.nn._statistics import (
    AxisIndexGroups,
    Devices,
    as_dtype,
    axes_of,
    check_features,
    check_mask,
    mean_and_variance,
    normalized,
    without,
)
from typed_nnx.nn._typing import Array, Dtype, Initializer, PromoteDtypeFn
from typed_nnx.nn.dtypes import promote_dtype


class BatchNorm(Module):
    """Normalizes each feature over the batch and all other axes, then scales and shifts it.

    While training, mean and variance are those of the inputs, and `mean` and `var` follow them;
    afterwards `mean` and `var` are used in their place. `train` and `eval` switch.

    >>> layer = BatchNorm(3, rngs=Rngs(0))
    >>> layer(jnp.ones((5, 3))).tolist()[0]
    [0.0, 0.0, 0.0]
    >>> layer.mean[...]
    Array([0.01, 0.01, 0.01], dtype=float32)

    Args:
        num_features: Size of the axis `axis` of the inputs.
        use_running_average: Whether to normalize by `mean` and `var`; None means that each call
            says it.
        axis: The axis of the features.
        momentum: How much of `mean` and `var` stays in a step, between 0 and 1.
        epsilon: Is added to the variance.
        dtype: The dtype to compute in; None means what inputs and parameters promote to. Mean and
            variance of the inputs are computed in float32 at least.
        param_dtype: The dtype of `scale` and `bias`; `mean` and `var` are float32.
        use_bias: Whether to shift; without it `bias` is None.
        use_scale: Whether to scale; without it `scale` is None.
        bias_init: Initializer of `bias`, [num_features].
        scale_init: Initializer of `scale`, [num_features].
        axis_name: A mapped axis, of vmap or pmap, whose devices form one batch.
        axis_index_groups: Groups of them that form a batch each.
        use_fast_variance: Whether the variance is computed as ``E[x²] - E[x]²``, in one pass.
        promote_dtype: What brings inputs and parameters to one dtype.
        rngs: Gives a key of the stream ``params`` for each of `scale` and `bias`.
        bias_metadata: Metadata of `bias`, such as ``out_sharding``.
        scale_metadata: Metadata of `scale`.

    Source: Ioffe and Szegedy, "Batch Normalization: Accelerating Deep Network Training by Reducing
    Internal Covariate Shift", 2015.
    """

    mean: BatchStat[jax.Array]
    var: BatchStat[jax.Array]
    scale: Param[jax.Array] | None
    bias: Param[jax.Array] | None

    def __init__(
        self,
        num_features: int,
        *,
        use_running_average: bool | None = False,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-5,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        use_bias: bool = True,
        use_scale: bool = True,
        bias_init: Initializer = bias_init,
        scale_init: Initializer = scale_init,
        axis_name: str | None = None,
        axis_index_groups: AxisIndexGroups = None,
        use_fast_variance: bool = True,
        promote_dtype: PromoteDtypeFn = promote_dtype,
        rngs: Rngs,
        bias_metadata: Metadata = NO_METADATA,
        scale_metadata: Metadata = NO_METADATA,
    ) -> None:
        self.mean = BatchStat(jnp.zeros((num_features,), jnp.float32))
        self.var = BatchStat(jnp.ones((num_features,), jnp.float32))
        self.scale = optional_param(
            use_scale, self, rngs, scale_init, (num_features,), param_dtype, scale_metadata
        )
        self.bias = optional_param(
            use_bias, self, rngs, bias_init, (num_features,), param_dtype, bias_metadata
        )
        self.num_features: int = num_features
        self.use_running_average: bool | None = use_running_average
        self.axis: int = axis
        self.momentum: float = momentum
        self.epsilon: float = epsilon
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.use_bias: bool = use_bias
        self.use_scale: bool = use_scale
        self.axis_name: str | None = axis_name
        self.axis_index_groups: AxisIndexGroups = axis_index_groups
        self.use_fast_variance: bool = use_fast_variance
        self.promote_dtype: PromoteDtypeFn = promote_dtype

    def __call__(
        self, x: Array, use_running_average: bool | None = None, *, mask: Array | None = None
    ) -> Array:
        """Return the inputs normalized: [...] -> [...].

        Args:
            x: Any dtype, with size `num_features` along `axis`.
            use_running_average: Overrides what the constructor or `train` and `eval` set.
            mask: Boolean, broadcasts to `x`: False where an element does not count for mean and
                variance.

        Raises:
            UnsetModeError: It is not known whether to use the running averages.
            LayerInputError: `x` has another number of features, or `mask` does not fit.
        """
        name = type(self).__name__
        frozen = first_set(
            use_running_average,
            self.use_running_average,
            layer=self,
            argument="use_running_average",
            why="whether to normalize by the batch or by the running averages is not known",
            fixes=(
                "model.train() or model.eval()",
                f"nnx.{name}(..., use_running_average=False)",
                "norm(x, use_running_average=True)",
            ),
        )
        features = axes_of(name, "axis", self.axis, x)
        check_features(
            self, x, features, mean=self.mean, var=self.var, scale=self.scale, bias=self.bias
        )
        x, mean, variance, scale, bias = self.promote_dtype(
            (
                x,
                self.mean[...],
                self.var[...],
                None if self.scale is None else self.scale[...],
                None if self.bias is None else self.bias[...],
            ),
            dtype=self.dtype,
        )
        reduced = without(features, x.ndim)
        if not frozen:
            mean, variance = _of_batch(self, x, reduced, mask)
        return normalized(
            self, x, (mean, variance), (scale, bias), reduced=reduced, features=features
        )

    def set_view(self, use_running_average: bool | None = None) -> None:
        """Take what `nnx.view` sets.

        Args:
            use_running_average: whether to normalize by the running averages, in place of the
                mean and variance of the inputs.
        """
        if use_running_average is not None:
            self.use_running_average = use_running_average


def _of_batch(
    layer: BatchNorm, x: Array, reduced: tuple[int, ...], mask: Array | None
) -> tuple[Array, Array]:
    """Return mean and variance of the batch, and let the running averages follow them."""
    check_mask(type(layer).__name__, mask, x.shape)
    mean, variance = mean_and_variance(
        x,
        reduced,
        Devices(layer.axis_name, layer.axis_index_groups),
        use_fast_variance=layer.use_fast_variance,
        mask=mask,
    )
    for average, new in ((layer.mean, mean), (layer.var, variance)):
        old = average[...]
        moved = layer.momentum * old + (1 - layer.momentum) * new
        average[...] = as_dtype(lax.stop_gradient(moved), old.dtype)
    return mean, variance
