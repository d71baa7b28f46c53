"""`LSTMCell` and `OptimizedLSTMCell`: one step of a long short-term memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

from typed_nnx._core.rngs import Rngs, RngStream
from typed_nnx.nn._linear import Linear
from typed_nnx.nn._parameters import NO_METADATA, Metadata, bias_init, kernel_init
from typed_nnx.nn._rnn_cell import (
    RNNCellBase,
    check_carry,
    check_step,
    kept_carry_stream,
    modified_orthogonal,
    new_carry,
    recurrent_kernel_init,
    wrong_carry,
)
from typed_nnx.nn._streams import check_rngs
from typed_nnx.nn._typing import Array, Dtype, Initializer, PromoteDtypeFn
from typed_nnx.nn.dtypes import promote_dtype

LSTMCarry: TypeAlias = tuple[Array, Array]
"""The memory and the output of a step, each [*batch, hidden_features]."""


class LSTMCell(RNNCellBase):
    """One step of a long short-term memory, with a `Linear` for each gate and each of its inputs.

    ``i``, ``f``, ``g`` and ``o`` are the input gate, the forget gate, the candidate and the output
    gate; the layers `ii`, `if_`, `ig` and `io` take the inputs and `hi`, `hf`, `hg` and `ho`, which
    have the biases, the last output.

    >>> cell = LSTMCell(3, 4, rngs=Rngs(0))
    >>> carry, y = cell(cell.initialize_carry((2, 3), Rngs(0)), jnp.ones((2, 3)))
    >>> y.shape
    (2, 4)

    Args:
        in_features: Size of the last axis of the inputs.
        hidden_features: Size of the last axis of the carry and the outputs.
        gate_fn: The function of the gates.
        activation_fn: The function of candidate and output.
        kernel_init: Initializer of the kernels of the inputs, [in_features, hidden_features].
        recurrent_kernel_init: Initializer of the kernels of the last output,
            [hidden_features, hidden_features].
        bias_init: Initializer of the biases, [hidden_features].
        dtype: The dtype to compute in; None means what inputs, carry and parameters promote to.
        param_dtype: The dtype of the parameters and of the first carry.
        carry_init: Initializer of the first carry; None means zeros.
        promote_dtype: What brings inputs and parameters to one dtype.
        keep_rngs: Deprecated: whether to keep a fork of the stream ``carry``.
        rngs: Gives twelve keys of the stream ``params``.
        kernel_metadata: Metadata of the kernels of the inputs.
        recurrent_kernel_metadata: Metadata of the kernels of the last output.
        bias_metadata: Metadata of the biases.

    Raises:
        RngsTypeError: `rngs` is not an `Rngs`.

    Source: Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997.
    """

    rngs: RngStream | None
    ii: Linear
    if_: Linear
    ig: Linear
    io: Linear
    hi: Linear
    hf: Linear
    hg: Linear
    ho: Linear

    def __init__(
        self,
        in_features: int,
        hidden_features: int,
        *,
        gate_fn: Callable[..., Any] = jax.nn.sigmoid,
        activation_fn: Callable[..., Any] = jnp.tanh,
        kernel_init: Initializer = kernel_init,
        recurrent_kernel_init: Initializer = modified_orthogonal,
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
        both: dict[str, Any] = {
            "dtype": dtype,
            "param_dtype": param_dtype,
            "promote_dtype": promote_dtype,
            "rngs": rngs,
        }
        of_inputs: dict[str, Any] = {
            "use_bias": False,
            "kernel_init": kernel_init,
            "kernel_metadata": kernel_metadata,
            **both,
        }
        of_output: dict[str, Any] = {
            "kernel_init": recurrent_kernel_init,
            "bias_init": bias_init,
            "kernel_metadata": recurrent_kernel_metadata,
            "bias_metadata": bias_metadata,
            **both,
        }
        self.ii = Linear(in_features, hidden_features, **of_inputs)
        self.if_ = Linear(in_features, hidden_features, **of_inputs)
        self.ig = Linear(in_features, hidden_features, **of_inputs)
        self.io = Linear(in_features, hidden_features, **of_inputs)
        self.hi = Linear(hidden_features, hidden_features, **of_output)
        self.hf = Linear(hidden_features, hidden_features, **of_output)
        self.hg = Linear(hidden_features, hidden_features, **of_output)
        self.ho = Linear(hidden_features, hidden_features, **of_output)
        self.carry_init: Initializer | None = carry_init

    def __call__(self, carry: LSTMCarry, inputs: Array) -> tuple[LSTMCarry, Array]:
        """Return the next carry, and its output: [*batch, hidden_features].

        Args:
            carry: Memory and last output, [*batch, hidden_features] each.
            inputs: Any dtype, [*batch, in_features].

        Raises:
            LayerInputError: The carry is no pair, or a last axis has another size.
        """
        memory, output = _checked(self, carry)
        check_step(self, inputs, self.ii, output, self.hi)
        i = self.gate_fn(self.ii(inputs) + self.hi(output))
        check_carry(self, memory, i.shape[-1])
        f = self.gate_fn(self.if_(inputs) + self.hf(output))
        g = self.activation_fn(self.ig(inputs) + self.hg(output))
        o = self.gate_fn(self.io(inputs) + self.ho(output))
        memory = f * memory + i * g
        output = o * self.activation_fn(memory)
        return (memory, output), output

    def initialize_carry(
        self,
        input_shape: tuple[int, ...],
        rngs: Rngs | RngStream | None = None,
        carry_init: Initializer | None = None,
    ) -> LSTMCarry:
        """Return the first memory and output: [*batch, hidden_features] each.

        Args:
            input_shape: ``(*batch, in_features)``.
            rngs: Gives two keys of the stream ``carry``.
            carry_init: Initializer in place of the cell's.

        Raises:
            UnsetModeError: There is no stream.
            RngsTypeError: `rngs` is neither streams nor a stream.
        """
        return _first_carry(self, input_shape, rngs, carry_init)

    @property
    def num_feature_axes(self) -> int:
        """How many of the last axes of the inputs are features."""
        return 1


class OptimizedLSTMCell(RNNCellBase):
    """`LSTMCell` with one product for all gates: faster, with parameters in another form.

    The kernels of input gate, forget gate, candidate and output gate stand side by side.

    Args:
        in_features: Size of the last axis of the inputs.
        hidden_features: Size of the last axis of the carry and the outputs.
        gate_fn: The function of the gates.
        activation_fn: The function of candidate and output.
        kernel_init: Initializer of the kernel of the inputs, [in_features, 4 * hidden_features].
        recurrent_kernel_init: Initializer of the kernel of the last output,
            [hidden_features, 4 * hidden_features].
        bias_init: Initializer of the bias, [4 * hidden_features].
        dtype: The dtype to compute in; None means what inputs, carry and parameters promote to.
        param_dtype: The dtype of the parameters and of the first carry.
        carry_init: Initializer of the first carry; None means zeros.
        promote_dtype: What brings inputs and parameters to one dtype.
        keep_rngs: Deprecated: whether to keep a fork of the stream ``carry``.
        rngs: Gives three keys of the stream ``params``.
        kernel_metadata: Metadata of the kernel of the inputs.
        recurrent_kernel_metadata: Metadata of the kernel of the last output.
        bias_metadata: Metadata of the bias.

    Raises:
        RngsTypeError: `rngs` is not an `Rngs`.

    Source: Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997.
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
            hidden_features * 4,
            use_bias=False,
            kernel_init=kernel_init,
            dtype=dtype,
            param_dtype=param_dtype,
            promote_dtype=promote_dtype,
            rngs=rngs,
            kernel_metadata=kernel_metadata,
        )
        self.dense_h = Linear(
            hidden_features,
            hidden_features * 4,
            kernel_init=recurrent_kernel_init,
            bias_init=bias_init,
            dtype=dtype,
            param_dtype=param_dtype,
            promote_dtype=promote_dtype,
            rngs=rngs,
            kernel_metadata=recurrent_kernel_metadata,
            bias_metadata=bias_metadata,
        )
        self.carry_init: Initializer | None = carry_init

    def __call__(self, carry: LSTMCarry, inputs: Array) -> tuple[LSTMCarry, Array]:
        """Return the next carry, and its output: [*batch, hidden_features].

        Args:
            carry: Memory and last output, [*batch, hidden_features] each.
            inputs: Any dtype, [*batch, in_features].

        Raises:
            LayerInputError: The carry is no pair, or a last axis has another size.
        """
        memory, output = _checked(self, carry)
        check_step(self, inputs, self.dense_i, output, self.dense_h)
        gates = self.dense_i(inputs) + self.dense_h(output)
        i, f, g, o = jnp.split(gates, 4, axis=-1)
        check_carry(self, memory, i.shape[-1])
        i, f = self.gate_fn(i), self.gate_fn(f)
        g, o = self.activation_fn(g), self.gate_fn(o)
        memory = f * memory + i * g
        output = o * self.activation_fn(memory)
        return (memory, output), output

    def initialize_carry(
        self,
        input_shape: tuple[int, ...],
        rngs: Rngs | RngStream | None = None,
        carry_init: Initializer | None = None,
    ) -> LSTMCarry:
        """Return the first memory and output: [*batch, hidden_features] each.

        Args:
            input_shape: ``(*batch, in_features)``.
            rngs: Gives two keys of the stream ``carry``.
            carry_init: Initializer in place of the cell's.

        Raises:
            UnsetModeError: There is no stream.
            RngsTypeError: `rngs` is neither streams nor a stream.
        """
        return _first_carry(self, input_shape, rngs, carry_init)

    @property
    def num_feature_axes(self) -> int:
        """How many of the last axes of the inputs are features."""
        return 1


_PAIR = "a pair (memory, output) of arrays with hidden_features={}"


def _checked(cell: LSTMCell | OptimizedLSTMCell, carry: object) -> LSTMCarry:
    if not isinstance(carry, tuple | list) or len(carry) != 2:
        raise wrong_carry(cell, carry, _PAIR.format(cell.hidden_features))
    memory, output = carry
    return memory, output


def _first_carry(
    cell: LSTMCell | OptimizedLSTMCell,
    input_shape: tuple[int, ...],
    rngs: Rngs | RngStream | None,
    carry_init: Initializer | None,
) -> LSTMCarry:
    memory, output = new_carry(cell, input_shape, rngs, carry_init, count=2)
    return memory, output
