"""Convolutions and transposed convolutions over any number of spatial axes, and their paddings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import jax
import jax.numpy as jnp
from jax import lax

from typed_nnx._core.fields import data
from typed_nnx._core.modules import Module
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.variable_types import Param
from typed_nnx.errors import LayerArgumentError, LayerInputError
from typed_nnx.nn._layers import (
    NO_METADATA,
    Array,
    ConvGeneralDilatedT,
    Dtype,
    Initializer,
    LaxPadding,
    Metadata,
    PaddingLike,
    PrecisionLike,
    PromoteDtypeFn,
    Sharding,
    accumulate_in,
    as_tuple,
    bias_init,
    described,
    kernel_init,
    new_param,
    plus_bias,
    read,
    size_held,
)
from typed_nnx.nn.dtypes import promote_dtype

_Convolution: TypeAlias = "Conv | ConvTranspose"


def _per_axis(
    layer: _Convolution, argument: str, value: int | Sequence[int] | None
) -> tuple[int, ...]:
    """Return a number for each spatial axis; None means 1."""
    rank = len(layer.kernel_size)
    if value is None or isinstance(value, int):
        return (1 if value is None else value,) * rank
    numbers: object = value
    if isinstance(numbers, Sequence) and len(numbers) == rank:
        return tuple(numbers)
    raise LayerArgumentError(
        type(layer).__name__,
        argument,
        repr(value),
        f"an int, None, or an int for each of the {rank} axes of kernel_size={layer.kernel_size}",
        f"{argument}={(2,) * rank}",
    )


def _promoted(layer: _Convolution, inputs: Array) -> tuple[Array, Array, Array | None]:
    """Return inputs, masked kernel and bias in one dtype."""
    kernel, mask = layer.kernel[...], layer.mask
    if mask is not None:
        _check_mask(layer, kernel.shape)
        is_inexact = jnp.issubdtype(mask.dtype, jnp.inexact)
        kernel = kernel * (mask if is_inexact else mask.astype(kernel.dtype))
    return layer.promote_dtype((inputs, kernel, read(layer.bias)), dtype=layer.dtype)


def _check_mask(layer: _Convolution, shape: tuple[int, ...]) -> None:
    if layer.mask is not None and jnp.shape(layer.mask) != shape:
        raise LayerArgumentError(
            type(layer).__name__,
            "mask",
            described(layer.mask),
            f"the shape of the kernel, {shape}",
            f"mask=jnp.broadcast_to(mask, {shape})",
        )


def _over_one_batch_axis(
    layer: _Convolution, inputs: Array, features: int | None, convolve: Callable[[Array], Array]
) -> Array:
    """Return `convolve` of inputs [*batch, *spatial, features] whose batch axes are made one.

    `features` is how many of them the kernel takes; None where only what convolves knows it.
    """
    shape, rank = jnp.shape(inputs), len(layer.kernel_size) + 1
    if len(shape) < rank or features not in (None, shape[-1]):
        raise _does_not_fit(layer, inputs, features)
    batch = shape[: len(shape) - rank]
    if len(batch) == 1:
        return convolve(inputs)
    result = convolve(jnp.reshape(inputs, (math.prod(batch), *shape[len(batch) :])))
    return jnp.reshape(result, (*batch, *result.shape[1:]))


def _does_not_fit(layer: _Convolution, inputs: Array, features: int | None) -> LayerInputError:
    name, rank = type(layer).__name__, len(layer.kernel_size)
    wanted = layer.in_features if features is None else features
    got = jnp.shape(inputs)[-1] if jnp.ndim(inputs) > rank else wanted
    axes = ", ".join(["...", *(f"axis {number}" for number in range(1, rank + 1))])
    return LayerInputError(
        name,
        "inputs",
        described(inputs),
        f"shape ({axes}, {size_held(layer, 'in_features', wanted, 'kernel')}) "
        f"for kernel_size={layer.kernel_size}",
        f"nnx.{name}({got}, ..., kernel_size=...) with one number of kernel_size for each "
        f"spatial axis, or inputs with {wanted} features in the last axis",
    )


# What jax itself knows, in upper and lower case.
LAX_NAMES = ("SAME", "SAME_LOWER", "VALID")

# Paddings that are written into the inputs, and the mode of `jax.numpy.pad` that does it.
PAD_MODES = {"CIRCULAR": "wrap", "CAUSAL": "constant", "REFLECT": "reflect"}


def canonicalize_padding(padding: PaddingLike, rank: int) -> LaxPadding:
    """Return a padding as jax takes it: a name, or (before, after) for each of `rank` axes.

    >>> canonicalize_padding(1, 2)
    [(1, 1), (1, 1)]
    >>> canonicalize_padding([1, (2, 3)], 2)
    [(1, 1), (2, 3)]

    Args:
        padding: A name; a number for both sides of all axes; or for each axis a number or a pair.
        rank: The number of axes.

    Raises:
        LayerArgumentError: It is none of these.
    """
    return padding_of("canonicalize_padding", padding, rank)


def padding_of(layer: str, padding: PaddingLike, rank: int) -> LaxPadding:
    """Return what `canonicalize_padding` returns; errors name `layer`."""
    if isinstance(padding, str):
        return padding
    if isinstance(padding, int):
        return [(padding, padding)] * rank
    sides: object = padding
    if isinstance(sides, Sequence) and len(sides) == rank:
        pairs = [pair for pair in map(_pair, sides) if pair is not None]
        if len(pairs) == rank:
            return pairs
    raise LayerArgumentError(
        layer,
        "padding",
        repr(padding),
        f"a name such as 'SAME', an int, or for each of {rank} axes an int or a pair of ints",
        f"padding={((1, 1),) * rank}",
    )


def _pair(value: object) -> tuple[int, int] | None:
    """Return the padding of one axis as a pair; None if it is neither an int nor a pair."""
    match value:
        case int():
            return (value, value)
        case (int() as before, int() as after) if isinstance(value, tuple):
            return (before, after)
        case _:
            return None


def check_name(layer: str, padding: PaddingLike, names: Sequence[str]) -> None:
    """Refuse a name that neither jax nor `names` has."""
    if not isinstance(padding, str) or padding.upper() in LAX_NAMES or padding in names:
        return
    known = ", ".join(map(repr, (*LAX_NAMES, *names)))
    close = padding.upper() if padding.upper() in names else "SAME"
    raise LayerArgumentError(
        layer, "padding", repr(padding), f"one of {known}, or numbers", f"padding={close!r}"
    )


class Conv(Module):
    """A convolution: at each place, an affine map of a window of the inputs.

    >>> layer = Conv(3, 8, (3, 3), strides=2, rngs=Rngs(0))
    >>> layer(jnp.ones((5, 28, 28, 3))).shape
    (5, 14, 14, 8)

    Args:
        in_features: Size of the last axis of the inputs.
        out_features: Size of the last axis of the result.
        kernel_size: Size of the window along each spatial axis; an int means one spatial axis.
        strides: Steps between windows: an int for all spatial axes, or one for each. None is 1.
        padding: ``SAME`` and ``VALID`` as in jax; ``CIRCULAR`` goes around, ``REFLECT`` mirrors,
            ``CAUSAL`` (one spatial axis) looks back only; an int for all sides; or for each
            spatial axis an int or a pair (before, after).
        input_dilation: Spreads the inputs by this factor, with zeros between; as `strides`.
        kernel_dilation: Spreads the window by this factor; as `strides`.
        feature_group_count: Number of groups of features that are convolved apart.
        mask: Array of the shape of the kernel that the kernel is multiplied by.
        precision: Precision of the products, as of `jax.lax.conv_general_dilated`.
        kernel_init: Initializer of `kernel`, [*kernel_size, in_features / groups, out_features].
        bias_init: Initializer of `bias`, [out_features].
        conv_general_dilated: What convolves, in place of `jax.lax.conv_general_dilated`.
        preferred_element_type: The dtype that the products accumulate in and the result has.

    The other arguments are those of `Linear`.

    Raises:
        LayerArgumentError: An argument does not fit `kernel_size`, the groups do not divide the
            features, or the padding is unknown.
    """

    kernel: Param[jax.Array]
    bias: Param[jax.Array] | None
    mask: Array | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] | None = 1,
        *,
        padding: PaddingLike = "SAME",
        input_dilation: int | Sequence[int] | None = 1,
        kernel_dilation: int | Sequence[int] | None = 1,
        feature_group_count: int = 1,
        use_bias: bool = True,
        mask: Array | None = None,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        precision: PrecisionLike = None,
        kernel_init: Initializer = kernel_init,
        bias_init: Initializer = bias_init,
        conv_general_dilated: ConvGeneralDilatedT = lax.conv_general_dilated,
        promote_dtype: PromoteDtypeFn = promote_dtype,
        preferred_element_type: Dtype | None = None,
        rngs: Rngs,
        kernel_metadata: Metadata = NO_METADATA,
        bias_metadata: Metadata = NO_METADATA,
    ) -> None:
        window = as_tuple(kernel_size)
        _check_groups(type(self).__name__, in_features, out_features, feature_group_count)
        self.kernel_shape: tuple[int, ...] = (
            *window,
            in_features // feature_group_count,
            out_features,
        )
        new = partial(new_param, self, rngs, param_dtype)
        self.kernel = new(kernel_init, self.kernel_shape, kernel_metadata)
        self.bias = new(bias_init, (out_features,), bias_metadata) if use_bias else data(None)
        self.in_features: int = in_features
        self.out_features: int = out_features
        self.kernel_size: tuple[int, ...] = window
        self.strides: int | Sequence[int] | None = strides
        self.padding: PaddingLike = padding
        self.input_dilation: int | Sequence[int] | None = input_dilation
        self.kernel_dilation: int | Sequence[int] | None = kernel_dilation
        self.feature_group_count: int = feature_group_count
        self.use_bias: bool = use_bias
        self.mask = data(mask)
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.precision: PrecisionLike = precision
        self.conv_general_dilated: ConvGeneralDilatedT = conv_general_dilated
        self.promote_dtype: PromoteDtypeFn = promote_dtype
        self.preferred_element_type: Dtype | None = preferred_element_type
        # Now, so that the line of the constructor is in the traceback.
        _check_mask(self, self.kernel_shape)
        _window(self)

    def __call__(self, inputs: Array, out_sharding: Sharding = None) -> Array:
        """Return the convolution: [*batch, *spatial, in_features] -> [..., out_features].

        Args:
            inputs: Any dtype; any number of batch axes, also none.
            out_sharding: Layout of the result over an explicit mesh.

        Raises:
            LayerInputError: `inputs` have too few axes, or another number of features.
            LayerArgumentError: An attribute was set to what the constructor would not take.
        """
        # A replacement of jax's convolution may take other kernels.
        is_of_jax = self.conv_general_dilated is lax.conv_general_dilated
        features = self.kernel.shape[-2] * self.feature_group_count if is_of_jax else None
        return _over_one_batch_axis(
            self, inputs, features, lambda flat: _convolved(self, flat, out_sharding)
        )


def _convolved(layer: Conv, inputs: Array, out_sharding: Sharding) -> Array:
    """Return the convolution: [batch, *spatial, features] -> [batch, *spatial, features]."""
    strides, spread, dilation, padding = _window(layer)
    if isinstance(padding, str) and padding in PAD_MODES:
        # By how much a dilated kernel is longer than one element, before and after it.
        reach = [(k - 1) * d for k, d in zip(layer.kernel_size, dilation, strict=True)]
        sides = [(n, 0) if padding == "CAUSAL" else (n // 2, n - n // 2) for n in reach]
        inputs = jnp.pad(inputs, [(0, 0), *sides, (0, 0)], mode=PAD_MODES[padding])
        padding = "VALID"
    inputs, kernel, bias = _promoted(layer, inputs)
    result = layer.conv_general_dilated(
        inputs,
        kernel,
        strides,
        padding,
        lhs_dilation=spread,
        rhs_dilation=dilation,
        dimension_numbers=_features_last(len(layer.kernel_size)),
        feature_group_count=layer.feature_group_count,
        precision=layer.precision,
        out_sharding=out_sharding,
        **accumulate_in(layer.preferred_element_type),
    )
    return plus_bias(result, bias)


def _window(layer: Conv) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], LaxPadding]:
    """Return strides, both dilations and padding, for each spatial axis."""
    padding = padding_of(type(layer).__name__, layer.padding, len(layer.kernel_size))
    spread = _per_axis(layer, "input_dilation", layer.input_dilation)
    dilation = _per_axis(layer, "kernel_dilation", layer.kernel_dilation)
    if isinstance(padding, str):
        _check_name(layer, padding, spread)
    return _per_axis(layer, "strides", layer.strides), spread, dilation, padding


def _features_last(rank: int) -> lax.ConvDimensionNumbers:
    """Return the axes of batch and features: inputs and result have features last, kernels in, out."""
    ends_last = (0, rank + 1, *range(1, rank + 1))
    return lax.ConvDimensionNumbers(ends_last, (rank + 1, rank, *range(rank)), ends_last)


def _check_groups(name: str, ins: int, out: int, groups: int) -> None:
    if groups < 1 or ins % groups or out % groups:
        raise LayerArgumentError(
            name,
            "feature_group_count",
            repr(groups),
            f"a number that divides both in_features={ins} and out_features={out}",
            f"feature_group_count=1, or in_features for one group per feature: nnx.{name}({ins}, "
            f"{ins}, ..., feature_group_count={ins})",
        )


def _check_name(layer: Conv, padding: str, spread: tuple[int, ...]) -> None:
    name = type(layer).__name__
    if padding == "CAUSAL" and len(layer.kernel_size) != 1:
        raise LayerArgumentError(
            name,
            "padding",
            repr(padding),
            f"another one for the {len(layer.kernel_size)} spatial axes of "
            f"kernel_size={layer.kernel_size}: causal is about one axis, time",
            "pad the axis of time with jnp.pad, and padding='VALID'",
        )
    # A replacement of jax's convolution may know names that we do not.
    if layer.conv_general_dilated is not lax.conv_general_dilated:
        return
    check_name(name, padding, tuple(PAD_MODES))
    if any(factor != 1 for factor in spread):
        raise LayerArgumentError(
            name,
            "padding",
            repr(padding),
            f"numbers where input_dilation={spread} spreads the inputs",
            f"padding={((1, 1),) * len(spread)}, or nnx.ConvTranspose",
        )


CIRCULAR = "CIRCULAR"


class ConvTranspose(Module):
    """A transposed convolution: each element of the inputs adds a window to the result.

    >>> layer = ConvTranspose(3, 8, (4, 4), strides=(2, 2), rngs=Rngs(0))
    >>> layer(jnp.ones((5, 14, 14, 3))).shape
    (5, 28, 28, 8)

    Args:
        in_features: Size of the last axis of the inputs.
        out_features: Size of the last axis of the result.
        kernel_size: Size of the window along each spatial axis; an int means one spatial axis.
        strides: Steps between windows in the result: an int for all spatial axes, or one for each.
            None is 1.
        padding: ``SAME`` (the result is `strides` times the inputs) and ``VALID`` as in
            `jax.lax.conv_transpose`; ``CIRCULAR`` goes around; an int for all sides; or for each
            spatial axis an int or a pair (before, after).
        kernel_dilation: Spreads the window by this factor; as `strides`.
        kernel_init: Initializer of `kernel`, [*kernel_size, in_features, out_features].
        bias_init: Initializer of `bias`, [out_features].
        transpose_kernel: Whether the kernel is that of the convolution that this is the transpose
            of: [*kernel_size, out_features, in_features], mirrored along its spatial axes.

    The other arguments are those of `Conv` and `Linear`.

    Raises:
        LayerArgumentError: An argument does not fit `kernel_size`, or the padding is unknown.

    Source: Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016.
    """

    kernel: Param[jax.Array]
    bias: Param[jax.Array] | None
    mask: Array | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] | None = None,
        *,
        padding: PaddingLike = "SAME",
        kernel_dilation: int | Sequence[int] | None = None,
        use_bias: bool = True,
        mask: Array | None = None,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        precision: PrecisionLike = None,
        kernel_init: Initializer = kernel_init,
        bias_init: Initializer = bias_init,
        transpose_kernel: bool = False,
        promote_dtype: PromoteDtypeFn = promote_dtype,
        preferred_element_type: Dtype | None = None,
        rngs: Rngs,
        kernel_metadata: Metadata = NO_METADATA,
        bias_metadata: Metadata = NO_METADATA,
    ) -> None:
        self.kernel_size: tuple[int, ...] = as_tuple(kernel_size)
        self.in_features: int = in_features
        self.out_features: int = out_features
        self.strides: int | Sequence[int] | None = strides
        self.padding: PaddingLike = padding
        self.kernel_dilation: int | Sequence[int] | None = kernel_dilation
        self.use_bias: bool = use_bias
        self.mask = data(mask)
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.precision: PrecisionLike = precision
        self.transpose_kernel: bool = transpose_kernel
        self.promote_dtype: PromoteDtypeFn = promote_dtype
        self.preferred_element_type: Dtype | None = preferred_element_type
        features = (out_features, in_features) if transpose_kernel else (in_features, out_features)
        self.kernel_shape: tuple[int, ...] = (*self.kernel_size, *features)
        _check_mask(self, self.kernel_shape)
        _transposed_window(self)
        new = partial(new_param, self, rngs, param_dtype)
        self.kernel = new(kernel_init, self.kernel_shape, kernel_metadata)
        self.bias = new(bias_init, (out_features,), bias_metadata) if use_bias else data(None)

    def __call__(self, inputs: Array) -> Array:
        """Return the transposed convolution: [*batch, *spatial, in_features] -> [..., out_features].

        Args:
            inputs: Any dtype; any number of batch axes, also none.

        Raises:
            LayerInputError: `inputs` have too few axes, or another number of features.
            LayerArgumentError: An attribute was set to what the constructor would not take.
        """
        features = self.kernel.shape[-1 if self.transpose_kernel else -2]
        return _over_one_batch_axis(
            self, inputs, features, lambda flat: _convolved_transposed(self, flat)
        )


def _convolved_transposed(layer: ConvTranspose, inputs: Array) -> Array:
    """Return the result for [batch, *spatial, features]."""
    strides, dilation, padding = _transposed_window(layer)
    inputs, kernel, bias = _promoted(layer, inputs)
    result = lax.conv_transpose(
        inputs,
        kernel,
        strides,
        "VALID" if padding == CIRCULAR else padding,
        rhs_dilation=dilation,
        transpose_kernel=layer.transpose_kernel,
        precision=layer.precision,
        preferred_element_type=layer.preferred_element_type,
    )
    if padding == CIRCULAR:
        spatial = inputs.shape[1:-1]
        periods = [size * stride for size, stride in zip(spatial, strides, strict=True)]
        result = _wrapped(result, periods, layer.transpose_kernel)
    return plus_bias(result, bias)


def _transposed_window(layer: ConvTranspose) -> tuple[tuple[int, ...], tuple[int, ...], LaxPadding]:
    """Return strides, dilation and padding, for each spatial axis."""
    name = type(layer).__name__
    check_name(name, layer.padding, (CIRCULAR,))
    padding = padding_of(name, layer.padding, len(layer.kernel_size))
    if isinstance(padding, str):
        padding = padding.upper()
    dilation = _per_axis(layer, "kernel_dilation", layer.kernel_dilation)
    return _per_axis(layer, "strides", layer.strides), dilation, padding


def _wrapped(result: Array, periods: Sequence[int], mirrored: bool) -> Array:
    """Return the sum of all the periods of a result that is longer than one, along each axis.

    What stands over at one end is added at the other. The result is centred on a period first;
    where it cannot be, the period begins one element earlier, or later if the kernel is mirrored.
    """
    pads = []
    for size, period in zip(result.shape[1:-1], periods, strict=True):
        # An odd number of periods: one in the middle, as many before as after.
        count = 1 + 2 * -(-(size - period) // (2 * period))
        total = count * period - size
        less, more = total // 2, total - total // 2
        pads.append((less, more) if mirrored else (more, less))
    result = jnp.pad(result, [(0, 0), *pads, (0, 0)])
    for axis, period in enumerate(periods, start=1):
        shape = (*result.shape[:axis], -1, period, *result.shape[axis + 1 :])
        result = result.reshape(shape).sum(axis=axis)
    return result
