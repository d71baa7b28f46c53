"""``nnx.nn.normalization``: layers that bring their inputs, or their kernels, to a known scale."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax
from jax.core import Tracer

from typed_nnx._core.fields import data
from typed_nnx._core.modules import Module as Module
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_types import BatchStat, Param
from typed_nnx.errors import LayerArgumentError, LayerInputError
from typed_nnx.nn._layers import (
    NO_METADATA,
    Array,
    Axes,
    AxisIndexGroups,
    Dtype,
    Metadata,
    PromoteDtypeFn,
    as_dtype,
    as_tuple,
    axes_without,
    bias_init,
    broadcasts,
    described,
    first_set,
    new_param,
    read,
    scale_init,
    size_held,
)
from typed_nnx.nn._layers import Initializer as Initializer
from typed_nnx.nn._weight_norm import SpectralNorm as SpectralNorm
from typed_nnx.nn._weight_norm import WeightNorm as WeightNorm
from typed_nnx.nn.dtypes import canonicalize_dtype, promote_dtype


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
        new = partial(new_param, self, rngs, param_dtype)
        self.scale = new(scale_init, (num_features,), scale_metadata) if use_scale else data(None)
        self.bias = new(bias_init, (num_features,), bias_metadata) if use_bias else data(None)
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
        reduced = _axes_of(name, "reduction_axes", self.reduction_axes, x)
        features = _axes_of(name, "feature_axes", self.feature_axes, x)
        _check_features(self, x, features, scale=self.scale, bias=self.bias)
        x, scale, bias = self.promote_dtype(
            (x, read(self.scale), read(self.bias)), dtype=self.dtype
        )
        _check_mask(name, mask, x.shape)
        statistics = _mean_and_variance(self, x, reduced, mask)
        return _normalized(self, x, statistics, (scale, bias), reduced=reduced, features=features)


class RMSNorm(Module):
    """Divides each element of the batch by the root mean square of its features, then scales them.

    >>> layer = RMSNorm(2, rngs=Rngs(0))
    >>> layer(jnp.array([[3.0, 3.0], [-7.0, 7.0]])).round(3).tolist()
    [[1.0, 1.0], [-1.0, 1.0]]

    Args:
        num_features: Size of the axes `feature_axes` of the inputs together.
        epsilon: Is added to the mean square.
        reduction_axes: The axes that the mean is taken over.
        feature_axes: The axes that have a scale for each element.
        use_fast_variance: Changes nothing: no mean is subtracted.
        rngs: Gives one key of the stream ``params`` (none without a scale).

    The other arguments are those of `LayerNorm`.

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
        new = partial(new_param, self, rngs, param_dtype)
        self.scale = new(scale_init, (num_features,), scale_metadata) if use_scale else data(None)
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
        """Return the inputs normalized: [...] -> [...]. Arguments and errors are those of `LayerNorm`."""
        name = type(self).__name__
        reduced = _axes_of(name, "reduction_axes", self.reduction_axes, x)
        features = _axes_of(name, "feature_axes", self.feature_axes, x)
        _check_features(self, x, features, scale=self.scale)
        x, scale = self.promote_dtype((x, read(self.scale)), dtype=self.dtype)
        _check_mask(name, mask, x.shape)
        square = _mean_over(self, _squared(as_dtype(x, _wide(x))), reduced, mask)
        return _normalized(
            self, x, (None, square), (scale, None), reduced=reduced, features=features
        )


class BatchNorm(Module):
    """Normalizes each feature over the batch and all other axes, then scales and shifts it.

    In training, mean and variance are those of the inputs, and update the averages `mean` and
    `var`, which are used in evaluation. `train` and `eval` switch.

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
        param_dtype: The dtype of `scale` and `bias`; `mean` and `var` are float32.
        axis_name: A mapped axis, of vmap or pmap, whose devices form one batch.
        axis_index_groups: Groups of them that form a batch each.

    The other arguments are those of `LayerNorm`.

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
        new = partial(new_param, self, rngs, param_dtype)
        self.scale = new(scale_init, (num_features,), scale_metadata) if use_scale else data(None)
        self.bias = new(bias_init, (num_features,), bias_metadata) if use_bias else data(None)
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
        features = _axes_of(name, "axis", self.axis, x)
        _check_features(
            self, x, features, mean=self.mean, var=self.var, scale=self.scale, bias=self.bias
        )
        x, mean, variance, scale, bias = self.promote_dtype(
            (x, self.mean[...], self.var[...], read(self.scale), read(self.bias)), dtype=self.dtype
        )
        reduced = axes_without(features, x.ndim)
        if not frozen:  # the running averages follow the batch
            _check_mask(name, mask, x.shape)
            mean, variance = _mean_and_variance(self, x, reduced, mask)
            for average, new in ((self.mean, mean), (self.var, variance)):
                old = average[...]
                moved = self.momentum * old + (1 - self.momentum) * new
                average[...] = as_dtype(lax.stop_gradient(moved), old.dtype)
        return _normalized(
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


class GroupNorm(Module):
    """Normalizes groups of features of each element of the batch, then scales and shifts them.

    >>> layer = GroupNorm(4, num_groups=2, rngs=Rngs(0))
    >>> layer(jnp.array([[1.0, 3.0, 10.0, 30.0]])).round(3).tolist()
    [[-1.0, 1.0, -1.0, 1.0]]

    Args:
        num_features: Size of the last axis of the inputs.
        num_groups: How many groups the features form.
        group_size: How many features a group has; `num_groups` must be None then.
        reduction_axes: The axes that mean and variance are taken over, of the last one within each
            group; None means all but the first, which is the batch.

    The other arguments are those of `LayerNorm`.

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
        new = partial(new_param, self, rngs, param_dtype)
        self.scale = new(scale_init, (num_features,), scale_metadata) if use_scale else data(None)
        self.bias = new(bias_init, (num_features,), bias_metadata) if use_bias else data(None)
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
        """Return the inputs normalized: [...] -> [...]. Arguments and errors are those of `LayerNorm`.

        Raises:
            LayerArgumentError: The last axis is not one of `reduction_axes`.
        """
        name = type(self).__name__
        last = jnp.ndim(x) - 1
        _check_groups(self, x)
        _check_mask(name, mask, jnp.shape(x))
        mask = None if mask is None else _grouped(self, mask)
        x, scale, bias = self.promote_dtype(
            (x, read(self.scale), read(self.bias)), dtype=self.dtype
        )
        # Within a group the last axis is reduced; the axis of the groups stays.
        others = _reduced(self, x)[:-1]
        mean, variance = _mean_and_variance(self, _grouped(self, x), (*others, last + 1), mask)
        statistics = (
            jnp.repeat(mean, self.group_size, axis=-1),
            jnp.repeat(variance, self.group_size, axis=-1),
        )
        return _normalized(self, x, statistics, (scale, bias), reduced=others, features=(last,))


def _groups(name: str, features: int, count: int | None, size: int | None) -> tuple[int, int]:
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


def _check_groups(layer: GroupNorm, x: Array) -> None:
    """Refuse features that are not as many as the groups have, or scale and bias."""
    name = type(layer).__name__
    features = _axes_of(name, "feature_axis", -1, x)
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
    _check_features(layer, x, features, scale=layer.scale, bias=layer.bias)


def _reduced(layer: GroupNorm, x: Array) -> tuple[int, ...]:
    """Return the axes to reduce, in ascending order; the last of `x` is among them."""
    last = x.ndim - 1
    if layer.reduction_axes is None:
        return (*range(1, last), last)
    reduced = _axes_of(type(layer).__name__, "reduction_axes", layer.reduction_axes, x)
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
    return lax.reshape(value, (*value.shape[:-1], *groups))


class InstanceNorm(Module):
    """Normalizes each feature of each element of the batch over the other axes.

    >>> layer = InstanceNorm(1, rngs=Rngs(0))
    >>> layer(jnp.array([[[1.0], [3.0]], [[10.0], [30.0]]])).round(3)[..., 0].tolist()
    [[-1.0, 1.0], [-1.0, 1.0]]

    Args:
        num_features: Size of the axes `feature_axes` of the inputs together.
        feature_axes: The axes that have a scale and a bias for each element. Mean and variance are
            taken over all others but the first, which is the batch.

    The other arguments are those of `LayerNorm`.

    Source: Ulyanov, Vedaldi and Lempitsky, "Instance Normalization: The Missing Ingredient for Fast
    Stylization", 2016.
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
        feature_axes: Axes = -1,
        axis_name: str | None = None,
        axis_index_groups: AxisIndexGroups = None,
        use_fast_variance: bool = True,
        promote_dtype: PromoteDtypeFn = promote_dtype,
        rngs: Rngs,
        bias_metadata: Metadata = NO_METADATA,
        scale_metadata: Metadata = NO_METADATA,
    ) -> None:
        new = partial(new_param, self, rngs, param_dtype)
        self.scale = new(scale_init, (num_features,), scale_metadata) if use_scale else data(None)
        self.bias = new(bias_init, (num_features,), bias_metadata) if use_bias else data(None)
        self.num_features: int = num_features
        self.epsilon: float = epsilon
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.use_bias: bool = use_bias
        self.use_scale: bool = use_scale
        self.feature_axes: Axes = feature_axes
        self.axis_name: str | None = axis_name
        self.axis_index_groups: AxisIndexGroups = axis_index_groups
        self.use_fast_variance: bool = use_fast_variance
        self.promote_dtype: PromoteDtypeFn = promote_dtype

    def __call__(self, x: Array, *, mask: Array | None = None) -> Array:
        """Return the inputs normalized: [...] -> [...]. Arguments and errors are those of `LayerNorm`.

        Raises:
            LayerInputError: Also if the first axis is one of the features.
        """
        name = type(self).__name__
        features = _axes_of(name, "feature_axes", self.feature_axes, x)
        if 0 in features:
            raise LayerInputError(
                name,
                "x",
                described(x),
                f"a batch as its first axis, which is among feature_axes={self.feature_axes}",
                "x[None], if the batch axis is missing, or another `feature_axes`",
            )
        _check_features(self, x, features, scale=self.scale, bias=self.bias)
        x, scale, bias = self.promote_dtype(
            (x, read(self.scale), read(self.bias)), dtype=self.dtype
        )
        _check_mask(name, mask, x.shape)
        reduced = axes_without((0, *features), x.ndim)
        statistics = _mean_and_variance(self, x, reduced, mask)
        return _normalized(self, x, statistics, (scale, bias), reduced=reduced, features=features)


# -- statistics, and what is done with them ----------------------------------------------------------


_Normalization: TypeAlias = LayerNorm | RMSNorm | BatchNorm | GroupNorm | InstanceNorm


def _mean_over(layer: _Normalization, x: Array, axes: tuple[int, ...], mask: Array | None) -> Array:
    return _over_devices(layer, jnp.mean(x, axes, where=mask))


def _over_devices(layer: _Normalization, value: Array) -> Array:
    if layer.axis_name is None:
        return value
    pmean: Any = lax.pmean  # untyped in jax
    averaged: Array = pmean(value, layer.axis_name, axis_index_groups=layer.axis_index_groups)
    return averaged


def _mean_and_variance(
    layer: _Normalization, x: Array, axes: tuple[int, ...], mask: Array | None
) -> tuple[Array, Array]:
    """Return mean and variance of `x` over `axes`, in float32 or what is wider.

    The variance is ``E|x|² - |E x|²``, which needs one pass over the inputs, or, unless the layer
    has `use_fast_variance`, ``E|x - E x|²``, which is more precise where the mean is large. `mask` is
    False where an element does not count.
    """
    x = as_dtype(x, _wide(x))
    if not layer.use_fast_variance:
        mean = _mean_over(layer, x, axes, mask)
        centred = x - jnp.expand_dims(mean, axes)
        return mean, _mean_over(layer, _squared(centred), axes, mask)
    squares = _squared(x)
    mean, of_squares = jnp.mean(x, axes, where=mask), jnp.mean(squares, axes, where=mask)
    if layer.axis_name is None or mean.dtype != of_squares.dtype:
        mean, of_squares = _over_devices(layer, mean), _over_devices(layer, of_squares)
    else:  # one exchange between the devices
        both = _over_devices(layer, jnp.stack([mean, of_squares]))
        mean, of_squares = both[0], both[1]
    # Rounding may make the difference negative.
    return mean, jnp.maximum(0.0, of_squares - _squared(mean))


def _normalized(
    layer: _Normalization,
    x: Array,
    statistics: tuple[Array | None, Array],
    parameters: tuple[Array | None, Array | None],
    *,
    reduced: Sequence[int],
    features: Sequence[int],
) -> Array:
    """Return ``(x - mean) / sqrt(variance + epsilon) * scale + bias`` in the dtype of the layer.

    Args:
        layer: Gives epsilon and dtype; None means what `x`, scale and bias promote to.
        x: Float or complex, [...].
        statistics: Mean, or None for 0, and variance, without the axes `reduced` of `x`.
        parameters: Scale and bias, or None, with as many elements as the axes `features` of `x`.
        reduced: The axes of `x` that the statistics do not have.
        features: The axes of `x` that the parameters have.
    """
    mean, variance = statistics
    scale, bias = parameters
    result_dtype = canonicalize_dtype(x, scale, bias, dtype=layer.dtype)
    of_statistics = tuple([1 if axis in reduced else size for axis, size in enumerate(x.shape)])
    of_features = tuple([size if axis in features else 1 for axis, size in enumerate(x.shape)])
    wide = _wide(x) if mean is None else mean.dtype
    mean = None if mean is None else lax.reshape(mean, of_statistics)
    variance = lax.reshape(variance, of_statistics)
    # In a trace operators cost four times as much: jax.numpy traces a function of its own.
    add, sub, mul = (lax.add, lax.sub, lax.mul) if isinstance(x, Tracer) else _OPERATORS
    y = as_dtype(x, wide)
    y = y if mean is None else sub(y, mean)
    factor = lax.rsqrt(variance + layer.epsilon)
    if scale is not None:
        scale = as_dtype(lax.reshape(scale, of_features), wide)
        factor = mul(as_dtype(factor, wide), scale)
    y = mul(y, as_dtype(factor, wide))
    if bias is not None:
        y = add(y, as_dtype(lax.reshape(bias, of_features), wide))
    return as_dtype(y, result_dtype)


_OPERATORS = (operator.add, operator.sub, operator.mul)


def _squared(x: Array) -> Array:
    """Return ``|x|²``, which is real."""
    if jnp.iscomplexobj(x):
        return lax.square(lax.real(x)) + lax.square(lax.imag(x))
    return lax.square(x)


_WIDE = frozenset(map(jnp.dtype, (jnp.float32, jnp.float64)))


def _wide(x: Array) -> Dtype:
    """Return the dtype for sums over many elements of `x`: that of `x`, and at least float32."""
    if x.dtype in _WIDE:
        return x.dtype
    finfo: Any = jnp.finfo  # untyped in jax
    is_inexact = jnp.issubdtype(x.dtype, jnp.inexact)
    return x.dtype if is_inexact and finfo(x.dtype).bits >= 32 else jnp.dtype(jnp.float32)


# -- checks ----------------------------------------------------------------------------------------


def _axes_of(layer: str, argument: str, axes: Axes, inputs: Array) -> tuple[int, ...]:
    """Return axes counted from the first, in ascending order, each once."""
    ndim = jnp.ndim(inputs)
    if any(not -ndim <= axis < ndim for axis in as_tuple(axes)):
        raise LayerInputError(
            layer,
            "x",
            described(inputs),
            f"the axes {argument}={axes}",
            f"nnx.{layer}(..., {argument}=...) with axes from {-ndim} to {ndim - 1}, "
            "or inputs with more axes",
        )
    return tuple(sorted({axis % ndim for axis in as_tuple(axes)}))


def _check_mask(layer: str, mask: Array | None, shape: tuple[int, ...]) -> None:
    """Refuse a mask that is not boolean, or does not broadcast to `shape`."""
    if mask is None:
        return
    if mask.dtype != jnp.bool_ or not broadcasts(jnp.shape(mask), shape):
        raise LayerInputError(
            layer,
            "mask",
            described(mask),
            f"booleans of a shape that broadcasts to that of x, {shape}",
            "mask.astype(bool), and mask[..., None] if the feature axis is missing",
        )


def _check_features(
    layer: object, x: Array, axes: Sequence[int], **vectors: Variable[jax.Array] | None
) -> None:
    """Refuse inputs with another number of features, along `axes`, than the vectors of the layer."""
    size = math.prod([jnp.shape(x)[axis] for axis in axes])
    along = f"axis {axes[0]}" if len(axes) == 1 else f"axes {tuple(axes)}"
    for name, vector in vectors.items():
        if vector is not None and vector.size != size:
            raise LayerInputError(
                type(layer).__name__,
                "x",
                described(x),
                f"{size_held(layer, 'num_features', vector.size, name)} elements along {along}",
                f"nnx.{type(layer).__name__}({size}, ...)",
            )
