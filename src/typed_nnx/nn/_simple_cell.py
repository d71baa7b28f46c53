"""`SimpleCell`: one step of a plain recurrent network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from typed_nnx._core.rngs import Rngs, RngStream
from typed_nnx.nn._linear import Linear
from typed_nnx.nn._parameters import NO_METADATA, Metadata, bias_init, kernel_init
from typed_nnx.nn._rnn_cell import (
    RNNCellBase,
    check_step,
    kept_carry_stream,
    new_carry,
    recurrent_kernel_init,
)
from typed_nnx.nn._streams import check_rngs
from typed_nnx.nn._typing import Array, Dtype, Initializer, PromoteDtypeFn
from typed_nnx.nn.dtypes import promote_dtype


class SimpleCell(RNNCellBase):
    """One step of a plain recurrent network: ``tanh(dense_i(inputs) + dense_h(carry))``.

    >>> cell = SimpleCell(3, 4, rngs=Rngs(0))
    >>> carry, y = cell(cell.initialize_carry((2, 3), Rngs(0)), jnp.ones((2, 3)))
    >>> y.shape
    (2, 4)

    Args:
        in_features: Size of the last axis of the inputs.
        hidden_features: Size of the last axis of the carry and the outputs.
        dtype: The dtype to compute in.
        param_dtype: The dtype of the parameters and of the first carry.
        carry_init: Initializer of the first carry; None means zeros.
        residual: Whether to add the carry before the activation.
        activation_fn: The function of the output.
        kernel_init: Initializer of the kernel of the inputs, [in_features, hidden_features].
        recurrent_kernel_init: Initializer of the kernel of the carry,
            [hidden_features, hidden_features].
        bias_init: Initializer of the bias, [hidden_features].
        promote_dtype: What brings inputs and parameters to one dtype.
        keep_rngs: Deprecated: whether to keep a fork of the stream ``carry``.
        rngs: Gives three keys of the stream ``params``.
        kernel_metadata: Metadata of the kernel of the inputs.
        recurrent_kernel_metadata: Metadata of the kernel of the carry.
        bias_metadata: Metadata of the bias.

    Raises:
        RngsTypeError: `rngs` is not an `Rngs`.

    Source: Elman, "Finding Structure in Time", 1990.
    """

    rngs: RngStream | None
    dense_h: Linear
    dense_i: Linear

    def __init__(
        self,
        in_features: int,
        hidden_features: int,
        *,
        dtype: Dtype = jnp.float32,
        param_dtype: Dtype = jnp.float32,
        carry_init: Initializer | None = None,
        residual: bool = False,
        activation_fn: Callable[..., Any] = jnp.tanh,
        kernel_init: Initializer = kernel_init,
        recurrent_kernel_init: Initializer = recurrent_kernel_init,
        bias_init: Initializer = bias_init,
        promote_dtype: PromoteDtypeFn = promote_dtype,
        keep_rngs: bool = False,
        rngs: Rngs,
        kernel_metadata: Metadata = NO_METADATA,
        recurrent_kernel_metadata: Metadata = NO_METADATA,
        bias_metadata: Metadata = NO_METADATA,
    ) -> None:
        check_rngs(self, rngs)
        self.in_features: int = in_features
        self.hidden_features: int = hidden_features
        self.dtype: Dtype = dtype
        self.param_dtype: Dtype = param_dtype
        self.residual: bool = residual
        self.activation_fn: Callable[..., Any] = activation_fn
        self.promote_dtype: PromoteDtypeFn = promote_dtype
        self.rngs = kept_carry_stream(self, rngs, keep_rngs)
        self.dense_h = Linear(
            hidden_features,
            hidden_features,
            use_bias=False,
            kernel_init=recurrent_kernel_init,
            dtype=dtype,
            param_dtype=param_dtype,
            promote_dtype=promote_dtype,
            rngs=rngs,
            kernel_metadata=recurrent_kernel_metadata,
        )
        self.dense_i = Linear(
            in_features,
            hidden_features,
            kernel_init=kernel_init,
            bias_init=bias_init,
            dtype=dtype,
            param_dtype=param_dtype,
            promote_dtype=promote_dtype,
            rngs=rngs,
            kernel_metadata=kernel_metadata,
            bias_metadata=bias_metadata,
        )
        self.carry_init: Initializer | None = carry_init

    def __call__(self, carry: Array, inputs: Array) -> tuple[Array, Array]:
        """Return the next carry, which is the output too: [*batch, hidden_features].

        Args:
            carry: The last output, [*batch, hidden_features].
            inputs: Any dtype, [*batch, in_features].

        Raises:
            LayerInputError: A last axis has another size.
        """
        check_step(self, inputs, self.dense_i, carry, self.dense_h)
        output = self.dense_i(inputs) + self.dense_h(carry)
        if self.residual:
            output = output + carry
        output = self.activation_fn(output)
        return output, output

    def initialize_carry(
        self,
        input_shape: tuple[int, ...],
        rngs: Rngs | RngStream | None = None,
        carry_init: Initializer | None = None,
    ) -> Array:
        """Return the first carry: [*batch, hidden_features].

        Args:
            input_shape: ``(*batch, in_features)``.
            rngs: Gives a key of the stream ``carry``.
            carry_init: Initializer in place of the cell's.

        Raises:
            UnsetModeError: There is no stream.
            RngsTypeError: `rngs` is neither streams nor a stream.
        """
        return new_carry(self, input_shape, rngs, carry_init)[0]

    @property
    def num_feature_axes(self) -> int:
        """How many of the last axes of the inputs are features."""
        return 1
