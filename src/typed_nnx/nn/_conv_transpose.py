"""`ConvTranspose`: a convolution that makes the inputs larger, the transpose of one with strides."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax

from typed_nnx._core.fields import data
from typed_nnx._core.module import Module
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.variable_types import Param
from typed_nnx.nn._conv_axes import check_mask, masked, over_one_batch_axis, per_axis
from typed_nnx.nn._conv_padding import check_name, padding_of
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
    Dtype,
    Initializer,
    LaxPadding,
    PaddingLike,
    PrecisionLike,
    PromoteDtypeFn,
)
from typed_nnx.nn.dtypes import promote_dtype

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
        use_bias: Whether to add a bias; without one `bias` is None.
        mask: Array of the shape of the kernel that the kernel is multiplied by.
        dtype: The dtype to compute in; None means what inputs and parameters promote to.
        param_dtype: The dtype of the parameters.
        precision: Precision of the products, as of `jax.lax.conv_transpose`.
        kernel_init: Initializer of `kernel`, [*kernel_size, in_features, out_features].
        bias_init: Initializer of `bias`, [out_features].
        transpose_kernel: Whether the kernel is that of the convolution that this is the transpose
            of: [*kernel_size, out_features, in_features], mirrored along its spatial axes.
        promote_dtype: What brings inputs and parameters to one dtype.
        preferred_element_type: The dtype that the products accumulate in and the result has.
        rngs: Gives two keys of the stream ``params`` (one without a bias).
        kernel_metadata: Metadata of `kernel`, such as ``out_sharding``.
        bias_metadata: Metadata of `bias`.

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
        check_mask(self, self.kernel_shape)
        _window(self)
        self.kernel = new_param(
            self, rngs, kernel_init, self.kernel_shape, param_dtype, kernel_metadata
        )
        self.bias = optional_param(
            use_bias, self, rngs, bias_init, (out_features,), param_dtype, bias_metadata
        )

    def __call__(self, inputs: Array) -> Array:
        """Return the transposed convolution: [*batch, *spatial, in_features] -> [..., out_features].

        Args:
            inputs: Any dtype; any number of batch axes, also none.

        Raises:
            LayerInputError: `inputs` have too few axes, or another number of features.
            LayerArgumentError: An attribute was set to what the constructor would not take.
        """
        features = self.kernel.shape[-1 if self.transpose_kernel else -2]
        return over_one_batch_axis(self, inputs, features, lambda flat: _convolved(self, flat))


def _convolved(layer: ConvTranspose, inputs: Array) -> Array:
    """Return the result for [batch, *spatial, features]."""
    strides, dilation, padding = _window(layer)
    kernel = masked(layer, layer.kernel[...])
    inputs, kernel, bias = layer.promote_dtype(
        (inputs, kernel, None if layer.bias is None else layer.bias[...]), dtype=layer.dtype
    )
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
    return result if bias is None else result + along_last_axis(bias, result.ndim)


def _window(layer: ConvTranspose) -> tuple[tuple[int, ...], tuple[int, ...], LaxPadding]:
    """Return strides, dilation and padding, for each spatial axis."""
    name = type(layer).__name__
    check_name(name, layer.padding, (CIRCULAR,))
    padding = padding_of(name, layer.padding, len(layer.kernel_size))
    if isinstance(padding, str):
        padding = padding.upper()
    dilation = per_axis(layer, "kernel_dilation", layer.kernel_dilation)
    return per_axis(layer, "strides", layer.strides), dilation, padding


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
