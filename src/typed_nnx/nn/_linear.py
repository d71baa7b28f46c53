"""`Linear`: an affine map over the last axis."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from typed_nnx._core.module import Module
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.variable_types import Param
from typed_nnx.errors import LayerInputError
from typed_nnx.nn._parameters import (
    NO_METADATA,
    Metadata,
    bias_init,
    kernel_init,
    new_param,
    optional_param,
)
from typed_nnx.nn._shapes import along_last_axis, described, size_held
from typed_nnx.nn._typing import (
    Array,
    DotGeneralT,
    Dtype,
    Initializer,
    PrecisionLike,
    PromoteDtypeFn,
    Sharding,
)
from typed_nnx.nn.dtypes import promote_dtype


class Linear(Module):
    """An affine map over the last axis: ``inputs @ kernel + bias``.

    >>> layer = Linear(3, 4, rngs=Rngs(0))
    >>> layer(jnp.ones((2, 3))).shape
    (2, 4)

    Args:
        in_features: Size of the last axis of the inputs.
        out_features: Size of the last axis of the result.
        use_bias: Whether to add a bias; without one `bias` is None.
        dtype: The dtype to compute in; None means what inputs and parameters promote to.
        param_dtype: The dtype of the parameters.
        precision: Precision of the product, as of `jax.lax.dot_general`.
        kernel_init: Initializer of `kernel`, [in_features, out_features].
        bias_init: Initializer of `bias`, [out_features].
        dot_general: What computes the product, in place of `jax.lax.dot_general`.
        promote_dtype: What brings inputs and parameters to one dtype.
        preferred_element_type: The dtype that the product accumulates in and returns.
        rngs: Gives two keys of the stream ``params`` (one without a bias).
        kernel_metadata: Metadata of `kernel`, such as ``out_sharding``.
        bias_metadata: Metadata of `bias`.
    """

    kernel: Param[jax.Array]
    bias: Param[jax.Array] | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        use_bias: bool = True,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        precision: PrecisionLike = None,
        kernel_init: Initializer = kernel_init,
        bias_init: Initializer = bias_init,
        dot_general: DotGeneralT = lax.dot_general,
        promote_dtype: PromoteDtypeFn = promote_dtype,
        preferred_element_type: Dtype | None = None,
        rngs: Rngs,
        kernel_metadata: Metadata = NO_METADATA,
        bias_metadata: Metadata = NO_METADATA,
    ) -> None:
        shape = (in_features, out_features)
        self.kernel = new_param(self, rngs, kernel_init, shape, param_dtype, kernel_metadata)
        self.bias = optional_param(
            use_bias, self, rngs, bias_init, shape[1:], param_dtype, bias_metadata
        )
        self.in_features: int = in_features
        self.out_features: int = out_features
        self.use_bias: bool = use_bias
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.precision: PrecisionLike = precision
        self.dot_general: DotGeneralT = dot_general
        self.promote_dtype: PromoteDtypeFn = promote_dtype
        self.preferred_element_type: Dtype | None = preferred_element_type

    def __call__(self, inputs: Array, out_sharding: Sharding = None) -> Array:
        """Return ``inputs @ kernel + bias``: [..., in_features] -> [..., out_features].

        Args:
            inputs: Any dtype, [..., in_features].
            out_sharding: Layout of the result over an explicit mesh.

        Raises:
            LayerInputError: The last axis of `inputs` has another size than the first of `kernel`.
        """
        x, kernel, bias = self.promote_dtype(
            (inputs, self.kernel[...], None if self.bias is None else self.bias[...]),
            dtype=self.dtype,
        )
        # A replacement of jax's product may take other kernels.
        if self.dot_general is lax.dot_general and x.shape[-1:] != kernel.shape[:1]:
            raise _does_not_fit(self, inputs, kernel)
        result = self.dot_general(
            x,
            kernel,
            (((x.ndim - 1,), (0,)), ((), ())),
            precision=self.precision,
            out_sharding=out_sharding,
            **accumulate_in(self.preferred_element_type),
        )
        return result if bias is None else result + along_last_axis(bias, result.ndim)


def accumulate_in(dtype: Dtype | None) -> dict[str, Any]:
    """Return the argument that asks for a dtype of the product; none where none was asked for.

    A replacement of `jax.lax.dot_general` need not know the argument.
    """
    return {} if dtype is None else {"preferred_element_type": dtype}


def rows_of(layer: object) -> int | None:
    """Return the size of the inputs that a Linear takes; None where another layer computes."""
    if not isinstance(layer, Linear) or type(layer).__call__ is not Linear.__call__:
        return None
    return layer.kernel.shape[0] if layer.dot_general is lax.dot_general else None


def _does_not_fit(layer: Linear, inputs: Array, kernel: Array) -> LayerInputError:
    rows = kernel.shape[0]
    features = jnp.shape(inputs)[-1] if jnp.ndim(inputs) else "its number of features"
    return LayerInputError(
        type(layer).__name__,
        "inputs",
        described(inputs),
        f"a last axis of size {size_held(layer, 'in_features', rows, 'kernel')}",
        f"nnx.{type(layer).__name__}({features}, {layer.out_features}, ...), or inputs of "
        f"shape (..., {rows})",
    )
