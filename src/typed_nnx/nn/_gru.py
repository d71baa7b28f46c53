"""`GRUCell`: one step of a gated recurrent unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
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


class GRUCell(RNNCellBase):
    """One step of a gated recurrent unit.

    The kernels of reset gate, update gate and candidate stand side by side in `dense_i`, which has
    the biases, and `dense_h`.

    >>> cell = GRUCell(3, 4, rngs=Rngs(0))
    >>> carry, y = cell(cell.initialize_carry((2, 3), Rngs(0)), jnp.ones((2, 3)))
    >>> y.shape
    (2, 4)

    Args:
        in_features: Size of the last axis of the inputs.
        hidden_features: Size of the last axis of the carry and the outputs.
        gate_fn: The function of the gates.
        activation_fn: The function of the candidate.
        kernel_init: Initializer of the kernel of the inputs, [in_features, 3 * hidden_features].
        recurrent_kernel_init: Initializer of the kernel of the carry,
            [hidden_features, 3 * hidden_features].
        bias_init: Initializer of the bias, [3 * hidden_features].
        dtype: The dtype to compute in; None means what inputs, carry and parameters promote to.
        param_dtype: The dtype of the parameters and of the first carry.
        carry_init: Initializer of the first carry; None means zeros.
        promote_dtype: What brings inputs and parameters to one dtype.
        keep_rngs: Deprecated: whether to keep a fork of the stream ``carry``.
        rngs: Gives three keys of the stream ``params``.
        kernel_metadata: Metadata of the kernel of the inputs.
        recurrent_kernel_metadata: Metadata of the kernel of the carry.
        bias_metadata: Metadata of the bias.

    Raises:
        RngsTypeError: `rngs` is not an `Rngs`.

    Source: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder for Statistical
    Machine Translation", 2014.
    """

    rngs: RngStream | None
    dense_i: Linear
    dense_h: Linear

    def __init__(
        self,
        in_features: int,
        hidden_features: int,
        *,
        gate_fn: Callable[..., Any] = jax.nn.sigmoid,
        activation_fn: Callable[..., Any] = jnp.tanh,
        kernel_init: Initializer = kernel_init,
        recurrent_kernel_init: Initializer = recurrent_kernel_init,
        bias_init: Initializer = bias_init,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        carry_init: Initializer | None = None,
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
        self.gate_fn: Callable[..., Any] = gate_fn
        self.activation_fn: Callable[..., Any] = activation_fn
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.promote_dtype: PromoteDtypeFn = promote_dtype
        self.rngs = kept_carry_stream(self, rngs, keep_rngs)
        self.dense_i = Linear(
            in_features,
            hidden_features * 3,
            kernel_init=kernel_init,
            bias_init=bias_init,
            dtype=dtype,
            param_dtype=param_dtype,
            promote_dtype=promote_dtype,
            rngs=rngs,
            kernel_metadata=kernel_metadata,
            bias_metadata=bias_metadata,
        )
        self.dense_h = Linear(
            hidden_features,
            hidden_features * 3,
            use_bias=False,
            kernel_init=recurrent_kernel_init,
            dtype=dtype,
            param_dtype=param_dtype,
            promote_dtype=promote_dtype,
            rngs=rngs,
            kernel_metadata=recurrent_kernel_metadata,
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
        of_inputs, of_carry = self.dense_i(inputs), self.dense_h(carry)
        reset_i, update_i, candidate_i = jnp.split(of_inputs, 3, axis=-1)
        reset_h, update_h, candidate_h = jnp.split(of_carry, 3, axis=-1)
        reset = self.gate_fn(reset_i + reset_h)
        update = self.gate_fn(update_i + update_h)
        candidate = self.activation_fn(candidate_i + reset * candidate_h)
        output = (1.0 - update) * candidate + update * carry
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
