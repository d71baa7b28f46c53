"""`LinearGeneral`: an affine map over any axes, with batch axes that have kernels of their own."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from typed_nnx._core.module import Module
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.variable_metadata import VariableMetadata
from typed_nnx._core.variable_types import Param
from typed_nnx.errors import LayerArgumentError, LayerInputError
from typed_nnx.nn._frozen_mapping import FrozenMapping
from typed_nnx.nn._linear import accumulate_in
from typed_nnx.nn._parameters import (
    NO_METADATA,
    Metadata,
    bias_init,
    kernel_init,
    new_param,
    optional_param,
)
from typed_nnx.nn._shapes import as_tuple, described
from typed_nnx.nn._typing import (
    Array,
    Axis,
    DotGeneralT,
    Dtype,
    Initializer,
    PrecisionLike,
    PromoteDtypeFn,
    Sharding,
    Size,
)
from typed_nnx.nn.dtypes import promote_dtype


class LinearGeneral(Module):
    """An affine map from some axes of the inputs to new last axes.

    >>> heads = LinearGeneral(8, (2, 4), rngs=Rngs(0))
    >>> heads(jnp.ones((5, 8))).shape
    (5, 2, 4)
    >>> joined = LinearGeneral((2, 4), 8, axis=(-2, -1), rngs=Rngs(0))
    >>> joined(jnp.ones((5, 2, 4))).shape
    (5, 8)

    Args:
        in_features: Size of each axis in `axis`, in the order in which the inputs have them.
        out_features: Sizes of the axes that take their place, at the end.
        axis: The axes of the inputs to contract.
        batch_axis: Leading axes, from 0 on, with their sizes: each index there has its own kernel
            and bias.
        use_bias: Whether to add a bias; without one `bias` is None.
        dtype: The dtype to compute in; None means what inputs and parameters promote to.
        param_dtype: The dtype of the parameters.
        kernel_init: Initializer of `kernel`, [*batch, *in_features, *out_features]; it is asked
            for [batch * in, out], so that its fans count all the axes of each side.
        bias_init: Initializer of `bias`, [*batch, *out_features].
        precision: Precision of the product, as of `jax.lax.dot_general`.
        promote_dtype: What brings inputs and parameters to one dtype.
        dot_general: What computes the product, in place of `jax.lax.dot_general`.
        dot_general_cls: A function that makes `dot_general` anew for each call.
        preferred_element_type: The dtype that the product accumulates in and returns.
        rngs: Gives two keys of the stream ``params`` (one without a bias).
        kernel_metadata: Metadata of `kernel`, such as ``out_sharding``.
        bias_metadata: Metadata of `bias`.

    Raises:
        LayerArgumentError: `in_features` and `axis` differ in length, or the batch axes are not
            the first ones.
    """

    kernel: Param[jax.Array]
    bias: Param[jax.Array] | None

    def __init__(
        self,
        in_features: Size | Sequence[Size],
        out_features: Size | Sequence[Size],
        *,
        axis: Axis | Sequence[Axis] = -1,
        batch_axis: Mapping[Axis, Size] = FrozenMapping(),
        use_bias: bool = True,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        kernel_init: Initializer = kernel_init,
        bias_init: Initializer = bias_init,
        precision: PrecisionLike = None,
        promote_dtype: PromoteDtypeFn = promote_dtype,
        dot_general: DotGeneralT | None = None,
        dot_general_cls: Callable[[], DotGeneralT] | None = None,
        preferred_element_type: Dtype | None = None,
        rngs: Rngs,
        kernel_metadata: Metadata = NO_METADATA,
        bias_metadata: Metadata = NO_METADATA,
    ) -> None:
        self.in_features: tuple[int, ...] = as_tuple(in_features)
        self.out_features: tuple[int, ...] = as_tuple(out_features)
        self.axis: tuple[int, ...] = as_tuple(axis)
        self.batch_axis: FrozenMapping[Axis, Size] = FrozenMapping(batch_axis)
        self.use_bias: bool = use_bias
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.precision: PrecisionLike = precision
        self.dot_general: DotGeneralT | None = dot_general
        self.dot_general_cls: Callable[[], DotGeneralT] | None = dot_general_cls
        self.promote_dtype: PromoteDtypeFn = promote_dtype
        self.preferred_element_type: Dtype | None = preferred_element_type
        _check(self)
        batch, fan_in = tuple(self.batch_axis.values()), math.prod(self.in_features)
        out = math.prod(self.out_features)
        self.kernel = new_param(
            self,
            rngs,
            _reshaped(kernel_init, (math.prod(batch) * fan_in, out)),
            (*batch, *self.in_features, *self.out_features),
            param_dtype,
            kernel_metadata,
        )
        self.bias = optional_param(
            use_bias,
            self,
            rngs,
            _reshaped(bias_init, (math.prod(batch) * out,)),
            (*batch, *self.out_features),
            param_dtype,
            bias_metadata,
        )

    def __call__(self, inputs: Array, out_sharding: Sharding = None) -> Array:
        """Return the inputs with the axes `axis` contracted, and `out_features` as last axes.

        Args:
            inputs: Any dtype; each axis in `axis` with the size that `kernel` has there.
            out_sharding: Layout of the result over an explicit mesh.

        Raises:
            LayerInputError: An axis of `inputs` is missing or has another size.
        """
        x, kernel, bias = self.promote_dtype(
            (inputs, self.kernel[...], None if self.bias is None else self.bias[...]),
            dtype=self.dtype,
        )
        dot_general = _dot_general(self)
        # A replacement of jax's product may take other kernels.
        sizes = kernel.shape if dot_general is lax.dot_general else None
        axes, batch = _axes_of(self, inputs, sizes)
        contracted = tuple(range(len(batch), len(batch) + len(axes)))
        result = dot_general(
            x,
            kernel,
            ((axes, contracted), (batch, batch)),
            precision=self.precision,
            out_sharding=out_sharding,
            **accumulate_in(self.preferred_element_type),
        )
        if bias is None:
            return result
        # Batch axes come first and the new axes last; those between are the inputs' own.
        between = result.ndim - bias.ndim
        return result + bias.reshape(
            (*bias.shape[: len(batch)], *[1] * between, *bias.shape[len(batch) :])
        )


def sizes_of_inputs(layer: object) -> tuple[int, ...] | None:
    """Return the sizes of the axes that a LinearGeneral contracts; None where another computes."""
    if not isinstance(layer, LinearGeneral) or type(layer).__call__ is not LinearGeneral.__call__:
        return None
    if layer.dot_general_cls is not None or layer.dot_general not in (None, lax.dot_general):
        return None
    first = len(layer.batch_axis)
    return layer.kernel.shape[first : first + len(layer.axis)]


def _check(layer: LinearGeneral) -> None:
    name = type(layer).__name__
    if len(layer.in_features) != len(layer.axis):
        raise LayerArgumentError(
            name,
            "axis",
            repr(layer.axis),
            f"one axis for each of in_features={layer.in_features}",
            f"nnx.{name}((4, 5), 8, axis=(-2, -1), ...)",
        )
    if sorted(layer.batch_axis) != list(range(len(layer.batch_axis))):
        raise LayerArgumentError(
            name,
            "batch_axis",
            repr(layer.batch_axis),
            "the first axes, counted from 0 without a gap",
            f"nnx.{name}(..., batch_axis={{0: 7}}, ...), and move those axes of the inputs first",
        )


def _reshaped(initializer: Initializer, flat_shape: tuple[int, ...]) -> Initializer:
    """Return an initializer that asks `initializer` for `flat_shape` and reshapes what it gives."""

    def initialize(key: jax.Array, shape: tuple[int, ...], dtype: Dtype) -> Any:
        value = initializer(key, flat_shape, dtype)
        if isinstance(value, VariableMetadata):
            return dataclasses.replace(value, raw_value=jnp.reshape(value.raw_value, shape))
        return jnp.reshape(value, shape)

    return initialize


def _dot_general(layer: LinearGeneral) -> DotGeneralT:
    if layer.dot_general_cls is not None:
        return layer.dot_general_cls()
    return lax.dot_general if layer.dot_general is None else layer.dot_general


def _axes_of(
    layer: LinearGeneral, inputs: Array, sizes: tuple[int, ...] | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the contracted axes and the batch axes of `inputs`, counted from the first.

    Args:
        layer: The layer.
        inputs: What the call got.
        sizes: The shape of the kernel, that the axes are compared with; None means not at all.
    """
    shape = jnp.shape(inputs)
    ndim = len(shape)
    batch = tuple(sorted(layer.batch_axis))
    ends = len(batch) + len(layer.axis)
    if all(-ndim <= axis < ndim for axis in layer.axis):
        axes = tuple(sorted([axis % ndim for axis in layer.axis]))
        if sizes is None:
            return axes, batch
        if sizes[:ends] == tuple([shape[axis] for axis in (*batch, *axes) if axis < ndim]):
            return axes, batch
    name, kernel = type(layer).__name__, layer.kernel.shape
    raise LayerInputError(
        name,
        "inputs",
        described(inputs),
        f"axes {layer.axis}, in ascending order, of sizes {kernel[len(batch) : ends]}"
        + (f", and batch axes {batch} of sizes {kernel[: len(batch)]}" if batch else ""),
        f"give inputs with these sizes, or another `axis` and `in_features` to nnx.{name}",
    )
