"""`GroupNorm`: groups of features of each element of the batch normalized together."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from typed_nnx._core.module import Module
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.variable_types import Param
from typed_nnx.errors import LayerArgumentError, LayerInputError
from typed_nnx.nn._parameters import NO_METADATA, Metadata, bias_init, optional_param, scale_init
from typed_nnx.nn._shapes import described
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


class GroupNorm(Module):
    """Normalizes groups of features of each element of the batch, then scales and shifts them.

    >>> layer = GroupNorm(4, num_groups=2, rngs=Rngs(0))
    >>> layer(jnp.array([[1.0, 3.0, 10.0, 30.0]])).round(3).tolist()
    [[-1.0, 1.0, -1.0, 1.0]]

    Args:
        num_features: Size of the last axis of the inputs.
        num_groups: How many groups the features form.
        group_size: How many features a group has; `num_groups` must be None then.
        epsilon: Is added to the variance.
        dtype: The dtype to compute in; None means what inputs and parameters promote to. Mean and
            variance are computed in float32 at least.
        param_dtype: The dtype of the parameters.
        use_bias: Whether to shift; without it `bias` is None.
        use_scale: Whether to scale; without it `scale` is None.
        bias_init: Initializer of `bias`, [num_features].
        scale_init: Initializer of `scale`, [num_features].
        reduction_axes: The axes that mean and variance are taken over, of the last one within each
            group; None means all but the first, which is the batch.
        axis_name: A mapped axis, of vmap or pmap, whose devices count together.
        axis_index_groups: Groups of them that count together.
        use_fast_variance: Whether the variance is computed as ``E[x²] - E[x]²``, in one pass.
        promote_dtype: What brings inputs and parameters to one dtype.
        rngs: Gives a key of the stream ``params`` for each of `scale` and `bias`.
        bias_metadata: Metadata of `bias`, such as ``out_sharding``.
        scale_metadata: Metadata of `scale`.

    Raises:
        LayerArgumentError: Not exactly one of `num_groups` and `group_size` is given, or it does
            not divide `num_features`.

    Source: Wu and He, "Group Normalization", 2018.
    """

    scale: Param[jax.Array] | None
    bias: Param[jax.Array] | None
    num_groups: int
    group_size: int

    def __init__(
        self,
        num_features: int,
        num_groups: int | None = 32,
        group_size: int | None = None,
        *,
        epsilon: float = 1e-6,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        use_bias: bool = True,
        use_scale: bool = True,
        bias_init: Initializer = bias_init,
        scale_init: Initializer = scale_init,
        reduction_axes: Axes | None = None,
        axis_name: str | None = None,
        axis_index_groups: AxisIndexGroups = None,
        use_fast_variance: bool = True,
        promote_dtype: PromoteDtypeFn = promote_dtype,
        rngs: Rngs,
        bias_metadata: Metadata = NO_METADATA,
        scale_metadata: Metadata = NO_METADATA,
    ) -> None:
        self.feature_axis: int = -1
        self.num_groups, self.group_size = _groups(
            type(self).__name__, num_features, num_groups, group_size
        )
        self.scale = optional_param(
            use_scale, self, rngs, scale_init, (num_features,), param_dtype, scale_metadata
        )
        self.bias = optional_param(
            use_bias, self, rngs, bias_init, (num_features,), param_dtype, bias_metadata
        )
        self.epsilon: float = epsilon
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.use_bias: bool = use_bias
        self.use_scale: bool = use_scale
        self.reduction_axes: Axes | None = reduction_axes
        self.axis_name: str | None = axis_name
        self.axis_index_groups: AxisIndexGroups = axis_index_groups
        self.use_fast_variance: bool = use_fast_variance
        self.promote_dtype: PromoteDtypeFn = promote_dtype

    def __call__(self, x: Array, *, mask: Array | None = None) -> Array:
        """Return the inputs normalized: [...] -> [...].

        Args:
            x: Any dtype, with `num_features` elements along the last axis.
            mask: Boolean, broadcasts to `x`: False where an element does not count for mean and
                variance.

        Raises:
            LayerInputError: `x` lacks an axis or has another number of features, or `mask` does
                not fit.
            LayerArgumentError: The last axis is not one of `reduction_axes`.
        """
        name = type(self).__name__
        last = jnp.ndim(x) - 1
        _check_features(self, x)
        check_mask(name, mask, jnp.shape(x))
        mask = None if mask is None else _grouped(self, mask)
        x, scale, bias = self.promote_dtype(
            (
                x,
                None if self.scale is None else self.scale[...],
                None if self.bias is None else self.bias[...],
            ),
            dtype=self.dtype,
        )
        # Within a group the last axis is reduced; the axis of the groups stays.
        others = _reduced(self, x)[:-1]
        mean, variance = mean_and_variance(
            _grouped(self, x),
            (*others, last + 1),
            Devices(self.axis_name, self.axis_index_groups),
            use_fast_variance=self.use_fast_variance,
            mask=mask,
        )
        statistics = (
            jnp.repeat(mean, self.group_size, axis=-1),
            jnp.repeat(variance, self.group_size, axis=-1),
        )
        return normalized(self, x, statistics, (scale, bias), reduced=others, features=(last,))


def _groups(name: str, features: int, count: int | None, size: int | None) -> tuple[int, int]:
    """Return the number of groups and the size of each."""
    if (count is None) == (size is None):
        raise LayerArgumentError(
            name,
            "group_size",
            repr(size),
            f"exactly one of group_size and num_groups, which is {count}, to be None",
            f"nnx.{name}({features}, num_groups=None, group_size=...)",
        )
    argument, divisor = ("num_groups", count) if size is None else ("group_size", size)
    if not divisor or divisor < 0 or features % divisor:
        good = max(n for n in range(1, features + 1) if features % n == 0 and n <= 32)
        raise LayerArgumentError(
            name,
            argument,
            repr(divisor),
            f"a number that divides num_features={features}",
            f"nnx.{name}({features}, num_groups={good}, ...)",
        )
    other = features // divisor
    return (divisor, other) if size is None else (other, divisor)


def _check_features(layer: GroupNorm, x: Array) -> None:
    """Refuse features that are not as many as the groups have, or scale and bias."""
    name = type(layer).__name__
    features = axes_of(name, "feature_axis", -1, x)
    size, wanted = jnp.shape(x)[-1], layer.num_groups * layer.group_size
    if size != wanted:
        raise LayerInputError(
            name,
            "x",
            described(x),
            f"num_features={wanted} elements along axis {features[0]}, for num_groups="
            f"{layer.num_groups} with group_size={layer.group_size}",
            f"nnx.{name}({size}, ...)",
        )
    check_features(layer, x, features, scale=layer.scale, bias=layer.bias)


def _reduced(layer: GroupNorm, x: Array) -> tuple[int, ...]:
    """Return the axes to reduce, in ascending order; the last of `x` is among them."""
    last = x.ndim - 1
    if layer.reduction_axes is None:
        return (*range(1, last), last)
    reduced = axes_of(type(layer).__name__, "reduction_axes", layer.reduction_axes, x)
    if last in reduced:
        return reduced
    raise LayerArgumentError(
        type(layer).__name__,
        "reduction_axes",
        repr(layer.reduction_axes),
        f"the last axis of x among them, for x is {described(x)}",
        f"reduction_axes={(*reduced, last)}",
    )


def _grouped(layer: GroupNorm, value: Array) -> Array:
    """Return [..., features] as [..., groups, features of a group]; [..., 1] as [..., 1, 1]."""
    groups = (layer.num_groups, layer.group_size) if value.shape[-1] != 1 else (1, 1)
    return value.reshape((*value.shape[:-1], *groups))
