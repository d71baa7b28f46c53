"""`Conv`: a convolution over any number of spatial axes."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax

from typed_nnx._core.fields import data
from typed_nnx._core.module import Module
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.variable_types import Param
from typed_nnx.errors import LayerArgumentError
from typed_nnx.nn._conv_axes import check_mask, masked, over_one_batch_axis, per_axis
from typed_nnx.nn._conv_padding import PAD_MODES, check_name, padded, padding_of
from typed_nnx.nn._linear import accumulate_in
from typed_nnx.nn._parameters import (
    NO_METADATA,
    Metadata,
    bias_init,
    kernel_init,
    new_param,
    optional_param,
)
from typed_nnx.nn._shapes import along_last_axis, as_tuple
from typed_nnx.nn._typing import (
    Array,
    ConvGeneralDilatedT,
    Dtype,
    Initializer,
    LaxPadding,
    PaddingLike,
    PrecisionLike,
    PromoteDtypeFn,
    Sharding,
)
from typed_nnx.nn.dtypes import promote_dtype


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
        use_bias: Whether to add a bias; without one `bias` is None.
        mask: Array of the shape of the kernel that the kernel is multiplied by.
        dtype: The dtype to compute in; None means what inputs and parameters promote to.
        param_dtype: The dtype of the parameters.
        precision: Precision of the products, as of `jax.lax.conv_general_dilated`.
        kernel_init: Initializer of `kernel`, [*kernel_size, in_features / groups, out_features].
        bias_init: Initializer of `bias`, [out_features].
        conv_general_dilated: What convolves, in place of `jax.lax.conv_general_dilated`.
        promote_dtype: What brings inputs and parameters to one dtype.
        preferred_element_type: The dtype that the products accumulate in and the result has.
        rngs: Gives two keys of the stream ``params`` (one without a bias).
        kernel_metadata: Metadata of `kernel`, such as ``out_sharding``.
        bias_metadata: Metadata of `bias`.

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
        self.kernel = new_param(
            self, rngs, kernel_init, self.kernel_shape, param_dtype, kernel_metadata
        )
        self.bias = optional_param(
            use_bias, self, rngs, bias_init, (out_features,), param_dtype, bias_metadata
        )
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
        check_mask(self, self.kernel_shape)
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
        return over_one_batch_axis(
            self, inputs, features, lambda flat: _convolved(self, flat, out_sharding)
        )


def _convolved(layer: Conv, inputs: Array, out_sharding: Sharding) -> Array:
    """Return the convolution: [batch, *spatial, features] -> [batch, *spatial, features]."""
    strides, spread, dilation, padding = _window(layer)
    if isinstance(padding, str) and padding in PAD_MODES:
        reach = [(k - 1) * d for k, d in zip(layer.kernel_size, dilation, strict=True)]
        inputs, padding = padded(inputs, padding, reach), "VALID"
    inputs, kernel, bias = layer.promote_dtype(
        (
            inputs,
            masked(layer, layer.kernel[...]),
            None if layer.bias is None else layer.bias[...],
        ),
        dtype=layer.dtype,
    )
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
    return result if bias is None else result + along_last_axis(bias, result.ndim)


def _window(layer: Conv) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], LaxPadding]:
    """Return strides, both dilations and padding, for each spatial axis."""
    padding = padding_of(type(layer).__name__, layer.padding, len(layer.kernel_size))
    spread = per_axis(layer, "input_dilation", layer.input_dilation)
    dilation = per_axis(layer, "kernel_dilation", layer.kernel_dilation)
    if isinstance(padding, str):
        _check_name(layer, padding, spread)
    return per_axis(layer, "strides", layer.strides), spread, dilation, padding


def _features_last(rank: int) -> lax.ConvDimensionNumbers:
    """Return where batch and features are: inputs and result have features last, kernels in, out."""
    spatial = tuple(range(1, rank + 1))
    ends_last = (0, rank + 1, *spatial)
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
