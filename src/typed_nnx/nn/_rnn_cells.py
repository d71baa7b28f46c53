"""Recurrent cells: one step of a sequence each."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax

from typed_nnx._core.fields import data
from typed_nnx._core.modules import Module
from typed_nnx._core.rngs import Rngs, RngStream
from typed_nnx.errors import AbstractMethodError, LayerInputError, UnsetModeError
from typed_nnx.nn import initializers
from typed_nnx.nn._layers import (
    NO_METADATA,
    Array,
    Dtype,
    Initializer,
    Metadata,
    PromoteDtypeFn,
    Shape,
    bias_init,
    called_stream,
    check_rngs,
    described,
    does_not_fit,
    kept_stream,
    kernel_init,
    size_held,
)
from typed_nnx.nn.dtypes import promote_dtype
from typed_nnx.nn.linear import Linear

Activation: TypeAlias = Callable[..., Any]
"""An elementwise function of an array."""

_orthogonal = initializers.orthogonal()


class RNNCellBase(Module):
    """The base of recurrent cells: one step of a sequence.

    A cell of one's own defines `__call__`, `initialize_carry` and `num_feature_axes`; `RNN` runs it
    over a sequence.
    """

    def __call__(self, carry: Any, inputs: Array) -> tuple[Any, Array]:
        """Return the next carry and the output of one step.

        Args:
            carry: What the step before returned, a pytree of arrays.
            inputs: One element of the sequence, [*batch, *features].

        Raises:
            AbstractMethodError: The class of the cell does not define it.
        """
        raise _not_defined(self, "`__call__(self, carry, inputs)`")

    def initialize_carry(
        self,
        input_shape: tuple[int, ...],
        rngs: Rngs | RngStream | None = None,
        carry_init: Initializer | None = None,
    ) -> Any:
        """Return the carry of the first step.

        Args:
            input_shape: The shape of one element of the sequence, (*batch, *features).
            rngs: Streams, or a stream, for random carries.
            carry_init: Initializer of each array of the carry.

        Raises:
            AbstractMethodError: The class of the cell does not define it.
        """
        member = "`initialize_carry(self, input_shape, rngs=None, carry_init=None)`"
        raise _not_defined(self, member)

    @property
    def num_feature_axes(self) -> int:
        """How many of the last axes of the inputs are features; those before are batches.

        Raises:
            AbstractMethodError: The class of the cell does not define it.
        """
        raise _not_defined(self, "the property `num_feature_axes`")


def _not_defined(cell: RNNCellBase, member: str) -> AbstractMethodError:
    kind = type(cell).__name__
    return AbstractMethodError(
        kind,
        f"does not define {member}; expected a cell with `__call__`, `initialize_carry` and "
        "`num_feature_axes`.",
        f"define {member} in {kind}, or use nnx.LSTMCell or nnx.GRUCell",
    )


def modified_orthogonal(key: Array, shape: Shape, dtype: Dtype = jnp.float32) -> Array:
    """Return an orthogonal matrix, computed in the default float dtype and cast.

    So it can initialize parameters of bfloat16 and float16, in which jax decomposes no matrix.

    Args:
        key: A PRNG key.
        shape: At least two axes; the rows, or columns, of the matrix are orthonormal.
        dtype: The dtype of the result.
    """
    return _orthogonal(key, tuple(shape)).astype(dtype)


def recurrent_kernel_init(key: Array, shape: Shape, dtype: Dtype = jnp.float32) -> Array:
    """Return an orthogonal matrix, computed in `dtype` or, where that is too small, in float32.

    Args:
        key: A PRNG key.
        shape: At least two axes; the rows, or columns, of the matrix are orthonormal.
        dtype: The dtype of the result.
    """
    wide = jnp.float32 if jnp.dtype(dtype).itemsize < 4 else dtype
    return _orthogonal(key, tuple(shape), wide).astype(dtype)


class _Cell(RNNCellBase):
    """What the cells of this library share: the features are one axis, of inputs and of carries."""

    in_features: int
    hidden_features: int
    dtype: Dtype | None
    param_dtype: Dtype
    promote_dtype: PromoteDtypeFn
    rngs: RngStream | None
    carry_init: Initializer | None

    @property
    def num_feature_axes(self) -> int:
        """How many of the last axes of the inputs are features."""
        return 1

    def _linear(
        self,
        sizes: tuple[int, int],
        kernel_init: Initializer,
        kernel_metadata: Metadata,
        rngs: Rngs,
        bias: tuple[Initializer, Metadata] | None = None,
    ) -> Linear:
        """Return a layer of the cell; `bias` is initializer and metadata of its bias."""
        return Linear(
            *sizes,
            use_bias=bias is not None,
            dtype=self.dtype,
            param_dtype=self.param_dtype,
            kernel_init=kernel_init,
            bias_init=bias_init if bias is None else bias[0],
            promote_dtype=self.promote_dtype,
            rngs=rngs,
            kernel_metadata=kernel_metadata,
            bias_metadata=NO_METADATA if bias is None else bias[1],
        )

    def _keep_stream(self, rngs: Rngs, keep: bool) -> None:
        """Keep a fork of the stream ``carry``, if the deprecated argument `keep_rngs` says so."""
        self.rngs = data(None)
        if not keep:
            return
        name = type(self).__name__
        warnings.warn(
            f"{name}: the argument `keep_rngs` is deprecated.\n"
            "  Fix: nnx.RNN(cell, rngs=rngs), or cell.initialize_carry(shape, rngs)",
            UserWarning,
            stacklevel=3,
        )
        self.rngs = kept_stream(self, rngs)


class _FusedCell(_Cell):
    """A cell whose gates stand side by side in two layers, one of which has the biases."""

    _gates: ClassVar[int]
    _bias_is_of_inputs: ClassVar[bool]

    dense_i: Linear
    dense_h: Linear

    def __init__(
        self,
        in_features: int,
        hidden_features: int,
        *,
        gate_fn: Activation = jax.nn.sigmoid,
        activation_fn: Activation = jnp.tanh,
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
        self.in_features = in_features
        self.hidden_features = hidden_features
        self.gate_fn: Activation = gate_fn
        self.activation_fn: Activation = activation_fn
        self.dtype = dtype
        self.param_dtype = param_dtype
        self.promote_dtype = promote_dtype
        self._keep_stream(rngs, keep_rngs)
        columns, bias = hidden_features * self._gates, (bias_init, bias_metadata)
        of_inputs, of_output = (bias, None) if self._bias_is_of_inputs else (None, bias)
        sizes, kernel = (in_features, columns), (kernel_init, kernel_metadata)
        self.dense_i = self._linear(sizes, *kernel, rngs, of_inputs)
        sizes, kernel = (
            (hidden_features, columns),
            (recurrent_kernel_init, recurrent_kernel_metadata),
        )
        self.dense_h = self._linear(sizes, *kernel, rngs, of_output)
        self.carry_init = carry_init


class _CellOfOutput(_Cell):
    """A cell whose carry is its last output."""

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
        return _new_carry(self, input_shape, rngs, carry_init)[0]


LSTMCarry: TypeAlias = tuple[Array, Array]
"""The memory and the output of a step, each [*batch, hidden_features]."""


class _CellOfMemory(_Cell):
    """A cell of long short-term memory, whatever its layers are."""

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
        memory, output = _new_carry(self, input_shape, rngs, carry_init, count=2)
        return memory, output


class GRUCell(_CellOfOutput, _FusedCell):
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

    _gates: ClassVar[int] = 3
    _bias_is_of_inputs: ClassVar[bool] = True

    def __call__(self, carry: Array, inputs: Array) -> tuple[Array, Array]:
        """Return the next carry, which is the output too: [*batch, hidden_features].

        Args:
            carry: The last output, [*batch, hidden_features].
            inputs: Any dtype, [*batch, in_features].

        Raises:
            LayerInputError: A last axis has another size.
        """
        _check_step(self, inputs, self.dense_i, carry, self.dense_h)
        of_inputs, of_carry = self.dense_i(inputs), self.dense_h(carry)
        reset_i, update_i, candidate_i = jnp.split(of_inputs, 3, axis=-1)
        reset_h, update_h, candidate_h = jnp.split(of_carry, 3, axis=-1)
        reset = self.gate_fn(reset_i + reset_h)
        update = self.gate_fn(update_i + update_h)
        candidate = self.activation_fn(candidate_i + reset * candidate_h)
        output = (1.0 - update) * candidate + update * carry
        return output, output


class LSTMCell(_CellOfMemory):
    """One step of a long short-term memory, with a `Linear` for each gate and each of its inputs.

    ``i``, ``f``, ``g`` and ``o`` are the input gate, the forget gate, the candidate and the output
    gate; the layers `ii`, `if_`, `ig` and `io` take the inputs and `hi`, `hf`, `hg` and `ho`, which
    have the biases, the last output.

    >>> cell = LSTMCell(3, 4, rngs=Rngs(0))
    >>> carry, y = cell(cell.initialize_carry((2, 3), Rngs(0)), jnp.ones((2, 3)))
    >>> y.shape
    (2, 4)

    Args:
        activation_fn: The function of candidate and output.
        kernel_init: Initializer of the kernels of the inputs, [in_features, hidden_features].
        recurrent_kernel_init: Initializer of the kernels of the last output,
            [hidden_features, hidden_features].
        bias_init: Initializer of the biases, [hidden_features].
        rngs: Gives twelve keys of the stream ``params``.

    The other arguments are those of `GRUCell`.

    Raises:
        RngsTypeError: `rngs` is not an `Rngs`.

    Source: Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997.
    """

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
        gate_fn: Activation = jax.nn.sigmoid,
        activation_fn: Activation = jnp.tanh,
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
        self.in_features = in_features
        self.hidden_features = hidden_features
        self.gate_fn: Activation = gate_fn
        self.activation_fn: Activation = activation_fn
        self.dtype = dtype
        self.param_dtype = param_dtype
        self.promote_dtype = promote_dtype
        self._keep_stream(rngs, keep_rngs)
        sizes, square = (in_features, hidden_features), (hidden_features, hidden_features)
        of_inputs = partial(self._linear, sizes, kernel_init, kernel_metadata, rngs)
        recurrent = (recurrent_kernel_init, recurrent_kernel_metadata)
        of_output = partial(self._linear, square, *recurrent, rngs, (bias_init, bias_metadata))
        self.ii, self.if_, self.ig, self.io = (of_inputs() for _ in range(4))
        self.hi, self.hf, self.hg, self.ho = (of_output() for _ in range(4))
        self.carry_init = carry_init

    def __call__(self, carry: LSTMCarry, inputs: Array) -> tuple[LSTMCarry, Array]:
        """Return the next carry, and its output: [*batch, hidden_features].

        Args:
            carry: Memory and last output, [*batch, hidden_features] each.
            inputs: Any dtype, [*batch, in_features].

        Raises:
            LayerInputError: The carry is no pair, or a last axis has another size.
        """
        memory, output = _pair(self, carry)
        _check_step(self, inputs, self.ii, output, self.hi)
        i = self.gate_fn(self.ii(inputs) + self.hi(output))
        _check_carry(self, memory, i.shape[-1])
        f = self.gate_fn(self.if_(inputs) + self.hf(output))
        g = self.activation_fn(self.ig(inputs) + self.hg(output))
        o = self.gate_fn(self.io(inputs) + self.ho(output))
        memory = f * memory + i * g
        output = o * self.activation_fn(memory)
        return (memory, output), output


class OptimizedLSTMCell(_CellOfMemory, _FusedCell):
    """`LSTMCell` with one product for all gates: faster, with parameters in another form.

    The kernels of input gate, forget gate, candidate and output gate stand side by side.

    Args:
        activation_fn: The function of candidate and output.
        kernel_init: Initializer of the kernel of the inputs, [in_features, 4 * hidden_features].
        recurrent_kernel_init: Initializer of the kernel of the last output,
            [hidden_features, 4 * hidden_features].
        bias_init: Initializer of the bias, [4 * hidden_features].

    The other arguments are those of `GRUCell`.

    Raises:
        RngsTypeError: `rngs` is not an `Rngs`.

    Source: Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997.
    """

    _gates: ClassVar[int] = 4
    _bias_is_of_inputs: ClassVar[bool] = False

    def __call__(self, carry: LSTMCarry, inputs: Array) -> tuple[LSTMCarry, Array]:
        """Return the next carry, and its output: [*batch, hidden_features].

        Args:
            carry: Memory and last output, [*batch, hidden_features] each.
            inputs: Any dtype, [*batch, in_features].

        Raises:
            LayerInputError: The carry is no pair, or a last axis has another size.
        """
        memory, output = _pair(self, carry)
        _check_step(self, inputs, self.dense_i, output, self.dense_h)
        gates = self.dense_i(inputs) + self.dense_h(output)
        i, f, g, o = jnp.split(gates, 4, axis=-1)
        _check_carry(self, memory, i.shape[-1])
        i, f = self.gate_fn(i), self.gate_fn(f)
        g, o = self.activation_fn(g), self.gate_fn(o)
        memory = f * memory + i * g
        output = o * self.activation_fn(memory)
        return (memory, output), output


class SimpleCell(_CellOfOutput):
    """One step of a plain recurrent network: ``tanh(dense_i(inputs) + dense_h(carry))``.

    >>> cell = SimpleCell(3, 4, rngs=Rngs(0))
    >>> carry, y = cell(cell.initialize_carry((2, 3), Rngs(0)), jnp.ones((2, 3)))
    >>> y.shape
    (2, 4)

    Args:
        dtype: The dtype to compute in.
        residual: Whether to add the carry before the activation.
        activation_fn: The function of the output.
        kernel_init: Initializer of the kernel of the inputs, [in_features, hidden_features].
        recurrent_kernel_init: Initializer of the kernel of the carry,
            [hidden_features, hidden_features].
        bias_init: Initializer of the bias, [hidden_features].

    The other arguments are those of `GRUCell`.

    Raises:
        RngsTypeError: `rngs` is not an `Rngs`.

    Source: Elman, "Finding Structure in Time", 1990.
    """

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
        activation_fn: Activation = jnp.tanh,
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
        self.in_features = in_features
        self.hidden_features = hidden_features
        self.dtype: Dtype | None = dtype
        self.param_dtype = param_dtype
        self.residual: bool = residual
        self.activation_fn: Activation = activation_fn
        self.promote_dtype = promote_dtype
        self._keep_stream(rngs, keep_rngs)
        kernel = (recurrent_kernel_init, recurrent_kernel_metadata)
        self.dense_h = self._linear((hidden_features, hidden_features), *kernel, rngs)
        bias = (bias_init, bias_metadata)
        self.dense_i = self._linear(
            (in_features, hidden_features), kernel_init, kernel_metadata, rngs, bias
        )
        self.carry_init = carry_init

    def __call__(self, carry: Array, inputs: Array) -> tuple[Array, Array]:
        """Return the next carry, which is the output too: [*batch, hidden_features].

        Args:
            carry: The last output, [*batch, hidden_features].
            inputs: Any dtype, [*batch, in_features].

        Raises:
            LayerInputError: A last axis has another size.
        """
        _check_step(self, inputs, self.dense_i, carry, self.dense_h)
        output = self.dense_i(inputs) + self.dense_h(carry)
        if self.residual:
            output = output + carry
        output = self.activation_fn(output)
        return output, output


# Functions, not methods: the call of a class takes anything with the attributes of its objects.


def _new_carry(
    cell: _Cell,
    input_shape: tuple[int, ...],
    rngs: Rngs | RngStream | None,
    carry_init: Initializer | None,
    count: int = 1,
) -> list[jax.Array]:
    """Return the arrays of a first carry, each from a key of its own of the stream ``carry``."""
    name = type(cell).__name__
    stream = called_stream(cell, rngs, cell.rngs, "carry")
    if stream is None:
        raise UnsetModeError(
            f"{name}.initialize_carry",
            "rngs",
            "initializers of carries take a key",
            (
                "cell.initialize_carry(shape, rngs=nnx.Rngs(0))",
                f"nnx.RNN(nnx.{name}(...), rngs=nnx.Rngs(0))",
            ),
        )
    fill = carry_init or cell.carry_init or initializers.zeros
    shape = (*input_shape[:-1], cell.hidden_features)
    # Zeros draw keys too: a random initializer must not change what others get.
    return [fill(stream(), shape, cell.param_dtype) for _ in range(count)]


def _rows_of(layer: object) -> int | None:
    """Return the size of the inputs that a Linear takes; None where another layer computes."""
    if not isinstance(layer, Linear) or type(layer).__call__ is not Linear.__call__:
        return None
    return layer.kernel.shape[0] if layer.dot_general is lax.dot_general else None


def _check_step(
    cell: _Cell, inputs: Array, of_inputs: Module, output: Array, of_output: Module
) -> None:
    """Refuse inputs and a last output that do not fit the layers that take them."""
    rows = _rows_of(of_inputs)
    if rows is not None and jnp.shape(inputs)[-1:] != (rows,):
        raise does_not_fit(cell, inputs, rows, cell.hidden_features)
    rows = _rows_of(of_output)
    _check_carry(cell, output, cell.hidden_features if rows is None else rows)


def _check_carry(cell: _Cell, array: object, size: int) -> None:
    """Refuse an array of a carry that does not have `size` as its last axis."""
    if getattr(array, "shape", ())[-1:] != (size,):
        held = size_held(cell, "hidden_features", size, "kernel")
        raise _wrong_carry(cell, array, f"an array with a last axis of size {held}")


def _wrong_carry(cell: _Cell, carry: object, expected: str) -> LayerInputError:
    return LayerInputError(
        type(cell).__name__,
        "carry",
        described(carry),
        expected,
        "cell.initialize_carry(inputs.shape, rngs)",
    )


def _pair(cell: _Cell, carry: object) -> LSTMCarry:
    """Return memory and output of a carry, if it has two parts."""
    if not isinstance(carry, tuple | list) or len(carry) != 2:
        expected = f"a pair (memory, output) of arrays with hidden_features={cell.hidden_features}"
        raise _wrong_carry(cell, carry, expected)
    memory, output = carry
    return memory, output
