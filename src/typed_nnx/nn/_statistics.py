"""Mean and variance of inputs, and inputs normalized by them: what all normalizations share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax

from typed_nnx._core.variable import Variable
from typed_nnx.errors import LayerInputError
from typed_nnx.nn._shapes import as_tuple, described, size_held
from typed_nnx.nn._typing import Array, Axes, Dtype
from typed_nnx.nn.dtypes import canonicalize_dtype

AxisIndexGroups: TypeAlias = Sequence[Sequence[int]] | None
"""Groups of devices along a mapped axis, each of which has statistics of its own."""


class NormalizationLike(Protocol):
    """The attributes of a normalization that `normalized` reads."""

    dtype: Dtype | None
    epsilon: float


class Devices(NamedTuple):
    """The devices whose inputs count together: those along a mapped axis, or of a group of them."""

    axis_name: str | None
    groups: AxisIndexGroups

    def mean(self, value: Array) -> Array:
        """Return the mean over the devices."""
        if self.axis_name is None:
            return value
        pmean: Any = lax.pmean  # untyped in jax
        averaged: Array = pmean(value, self.axis_name, axis_index_groups=self.groups)
        return averaged

    def means(self, first: Array, second: Array) -> tuple[Array, Array]:
        """Return both means, with one exchange between the devices where dtypes allow it."""
        if self.axis_name is None or first.dtype != second.dtype:
            return self.mean(first), self.mean(second)
        both = self.mean(jnp.stack([first, second]))
        return both[0], both[1]


def axes_of(layer: str, argument: str, axes: Axes, inputs: Array) -> tuple[int, ...]:
    """Return axes counted from the first, in ascending order, each once.

    Raises:
        LayerInputError: `inputs` do not have one of them.
    """
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


def without(axes: Sequence[int], ndim: int) -> tuple[int, ...]:
    """Return the axes of an array of rank `ndim` that are not among `axes`."""
    return tuple([axis for axis in range(ndim) if axis not in axes])


def check_mask(layer: str, mask: Array | None, shape: tuple[int, ...]) -> None:
    """Refuse a mask that does not say of each element whether it counts.

    Raises:
        LayerInputError: It is not boolean, or does not broadcast to `shape`.
    """
    if mask is None:
        return
    fits = len(jnp.shape(mask)) <= len(shape) and all(
        size in (1, wanted)
        for size, wanted in zip(jnp.shape(mask)[::-1], shape[::-1], strict=False)
    )
    if mask.dtype != jnp.bool_ or not fits:
        raise LayerInputError(
            layer,
            "mask",
            described(mask),
            f"booleans of a shape that broadcasts to that of x, {shape}",
            "mask.astype(bool), and mask[..., None] where the axis of features lacks",
        )


def mean_and_variance(
    x: Array,
    axes: tuple[int, ...],
    devices: Devices,
    *,
    use_fast_variance: bool,
    mask: Array | None,
) -> tuple[Array, Array]:
    """Return mean and variance of `x` over `axes`, in float32 or what is wider.

    Args:
        x: Float or complex, [...].
        axes: The axes to reduce.
        devices: Whose inputs count together.
        use_fast_variance: Whether the variance is ``E|x|² - |E x|²``, which needs one pass over
            the inputs, or ``E|x - E x|²``, which is more precise where the mean is large.
        mask: Boolean, broadcasts to `x`: False where an element does not count.
    """
    x = _widened(x)
    if use_fast_variance:
        squares = _squared(x)
        mean, of_squares = devices.means(
            jnp.mean(x, axes, where=mask), jnp.mean(squares, axes, where=mask)
        )
        # Rounding may make the difference negative.
        return mean, jnp.maximum(0.0, of_squares - _squared(mean))
    mean = devices.mean(jnp.mean(x, axes, where=mask))
    centred = x - jnp.expand_dims(mean, axes)
    return mean, devices.mean(jnp.mean(_squared(centred), axes, where=mask))


def mean_square(x: Array, axes: tuple[int, ...], devices: Devices, *, mask: Array | None) -> Array:
    """Return the mean of ``|x|²`` over `axes`, in float32 or what is wider."""
    return devices.mean(jnp.mean(_squared(_widened(x)), axes, where=mask))


def normalized(
    layer: NormalizationLike,
    x: Array,
    statistics: tuple[Array | None, Array],
    parameters: tuple[Array | None, Array | None],
    *,
    reduced: Sequence[int],
    features: Sequence[int],
) -> Array:
    """Return ``(x - mean) / sqrt(variance + epsilon) * scale + bias``.

    Args:
        layer: Gives epsilon, and the dtype of the result: None means what `x`, scale and bias
            promote to.
        x: Float or complex, [...].
        statistics: Mean and variance, with the axes of `x` that are not in `reduced`. The mean
            may be None, which is 0.
        parameters: Scale and bias, with as many elements as the axes `features` of `x`; either
            may be None.
        reduced: The axes of `x` that the statistics do not have.
        features: The axes of `x` that the parameters have.
    """
    mean, variance = statistics
    scale, bias = parameters
    result_dtype = canonicalize_dtype(x, scale, bias, dtype=layer.dtype)
    of_statistics = [1 if axis in reduced else size for axis, size in enumerate(x.shape)]
    of_features = [size if axis in features else 1 for axis, size in enumerate(x.shape)]
    wide = _wide(x) if mean is None else mean.dtype
    mean = None if mean is None else mean.reshape(of_statistics)
    variance = variance.reshape(of_statistics)
    y = as_dtype(x, wide)
    y = y if mean is None else y - mean
    factor = lax.rsqrt(variance + layer.epsilon)
    if scale is not None:
        scale = as_dtype(scale.reshape(of_features), wide)
        factor = as_dtype(factor, wide) * scale
    y = y * as_dtype(factor, wide)
    if bias is not None:
        y = y + as_dtype(bias.reshape(of_features), wide)
    return as_dtype(y, result_dtype)


def check_features(
    layer: object, x: Array, axes: Sequence[int], **vectors: Variable[jax.Array] | None
) -> None:
    """Refuse inputs with another number of features than the vectors of the layer.

    Args:
        layer: The normalization.
        x: Any dtype, [...].
        axes: The axes of the features.
        **vectors: Scale, bias and statistics by name; None for those that the layer lacks.

    Raises:
        LayerInputError: The numbers differ.
    """
    size = math.prod([jnp.shape(x)[axis] for axis in axes])
    for name, vector in vectors.items():
        if vector is not None and vector.size != size:
            raise LayerInputError(
                type(layer).__name__,
                "x",
                described(x),
                f"{size_held(layer, 'num_features', vector.size, name)} elements along "
                f"{_named(axes)}",
                f"nnx.{type(layer).__name__}({size}, ...)",
            )


def _named(axes: Sequence[int]) -> str:
    return f"axis {axes[0]}" if len(axes) == 1 else f"axes {tuple(axes)}"


def _squared(x: Array) -> Array:
    """Return ``|x|²``, which is real."""
    if jnp.iscomplexobj(x):
        return lax.square(lax.real(x)) + lax.square(lax.imag(x))
    return lax.square(x)


def _wide(x: Array) -> Any:
    """Return the dtype for sums over many elements of `x`: that of `x`, and at least float32."""
    dtype: Any = x.dtype
    finfo: Any = jnp.finfo  # untyped in jax
    inexact = jnp.issubdtype(dtype, jnp.inexact)
    return dtype if inexact and finfo(dtype).bits >= 32 else jnp.dtype(jnp.float32)


def _widened(x: Array) -> Array:
    return as_dtype(x, _wide(x))


def as_dtype(value: Array, dtype: Dtype) -> Array:
    """Return the array in a dtype: the array itself if it has it."""
    return value if value.dtype == dtype else lax.convert_element_type(value, dtype)
