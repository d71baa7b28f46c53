"""What `Conv` and `ConvTranspose` share: their axes, and the mask of their kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

import jax
import jax.numpy as jnp

from typed_nnx._core.variable_types import Param
from typed_nnx.errors import LayerArgumentError, LayerInputError
from typed_nnx.nn._shapes import described, size_held
from typed_nnx.nn._typing import Array


class ConvolutionLike(Protocol):
    """The attributes of a convolution that these functions read."""

    kernel_size: tuple[int, ...]
    kernel_shape: tuple[int, ...]
    in_features: int
    kernel: Param[jax.Array]
    mask: Array | None


def per_axis(
    layer: ConvolutionLike, argument: str, value: int | Sequence[int] | None
) -> tuple[int, ...]:
    """Return a number for each spatial axis; None means 1.

    Raises:
        LayerArgumentError: `value` has another length than `kernel_size`.
    """
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


def masked(layer: ConvolutionLike, kernel: Array) -> Array:
    """Return the kernel times the mask of the layer.

    Raises:
        LayerArgumentError: The mask has another shape than the kernel.
    """
    mask = layer.mask
    if mask is None:
        return kernel
    check_mask(layer, kernel.shape)
    if not jnp.issubdtype(mask.dtype, jnp.inexact):
        mask = mask.astype(kernel.dtype)
    return kernel * mask


def check_mask(layer: ConvolutionLike, shape: tuple[int, ...]) -> None:
    """Refuse a mask of another shape than the kernel, `shape`.

    Raises:
        LayerArgumentError: The shapes differ.
    """
    if layer.mask is not None and jnp.shape(layer.mask) != shape:
        raise LayerArgumentError(
            type(layer).__name__,
            "mask",
            described(layer.mask),
            f"the shape of the kernel, {shape}",
            f"mask=jnp.broadcast_to(mask, {shape})",
        )


def over_one_batch_axis(
    layer: ConvolutionLike,
    inputs: Array,
    features: int | None,
    convolve: Callable[[Array], Array],
) -> Array:
    """Return `convolve` of inputs whose batch axes are made one, with the batch axes restored.

    Args:
        layer: The convolution.
        inputs: Any dtype, [*batch, *spatial, features]; there may be no batch axis at all.
        features: How many features the kernel takes; None where only what convolves knows it.
        convolve: [one batch axis, *spatial, features] -> [one batch axis, *spatial, features].

    Raises:
        LayerInputError: `inputs` have too few axes, or another number of features.
    """
    shape, rank = jnp.shape(inputs), len(layer.kernel_size) + 1
    if len(shape) < rank or features not in (None, shape[-1]):
        raise _does_not_fit(layer, inputs, features)
    batch = shape[: len(shape) - rank]
    if len(batch) == 1:
        return convolve(inputs)
    result = convolve(jnp.reshape(inputs, (math.prod(batch), *shape[len(batch) :])))
    return jnp.reshape(result, (*batch, *result.shape[1:]))


def _does_not_fit(layer: ConvolutionLike, inputs: Array, features: int | None) -> LayerInputError:
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
