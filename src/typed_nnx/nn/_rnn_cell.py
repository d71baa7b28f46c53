"""`RNNCellBase`: what recurrent cells have in common."""

from __future__ import annotations

import warnings
from typing import Any, Protocol

import jax
import jax.numpy as jnp

from typed_nnx._core.fields import data
from typed_nnx._core.module import Module
from typed_nnx._core.rngs import Rngs, RngStream
from typed_nnx.errors import AbstractCellError, LayerInputError, UnsetModeError
from typed_nnx.nn import initializers
from typed_nnx.nn._linear import rows_of
from typed_nnx.nn._shapes import described, size_held
from typed_nnx.nn._streams import called_stream, kept_stream
from typed_nnx.nn._typing import Array, Dtype, Initializer, Shape

# The cells of this library take one feature axis, and a carry of arrays of hidden features.
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
            AbstractCellError: The class of the cell does not define it.
        """
        raise AbstractCellError(type(self).__name__, "`__call__(self, carry, inputs)`")

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
            AbstractCellError: The class of the cell does not define it.
        """
        raise AbstractCellError(
            type(self).__name__, "`initialize_carry(self, input_shape, rngs=None, carry_init=None)`"
        )

    @property
    def num_feature_axes(self) -> int:
        """How many of the last axes of the inputs are features; those before are batches.

        Raises:
            AbstractCellError: The class of the cell does not define it.
        """
        raise AbstractCellError(type(self).__name__, "the property `num_feature_axes`")


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


def kept_carry_stream(cell: RNNCellBase, rngs: Rngs, keep: bool) -> RngStream | None:
    """Return the stream that a cell keeps for its carries, if it keeps one.

    Args:
        cell: The cell.
        rngs: Streams of which ``carry`` is forked.
        keep: Whether to keep one, which is deprecated.
    """
    if not keep:
        return data(None)
    name = type(cell).__name__
    warnings.warn(
        f"{name}: the argument `keep_rngs` is deprecated.\n"
        "  Fix: nnx.RNN(cell, rngs=rngs), or cell.initialize_carry(shape, rngs)",
        UserWarning,
        stacklevel=3,
    )
    return kept_stream(cell, rngs, "carry")


class GatedCell(Protocol):
    """What the functions below read of a cell of this library."""

    in_features: int
    hidden_features: int
    param_dtype: Dtype
    rngs: RngStream | None
    carry_init: Initializer | None


def new_carry(
    cell: GatedCell,
    input_shape: tuple[int, ...],
    rngs: Rngs | RngStream | None,
    carry_init: Initializer | None,
    count: int = 1,
) -> tuple[jax.Array, ...]:
    """Return the arrays of the first carry, each from a key of its own of the stream ``carry``.

    Args:
        cell: The cell.
        input_shape: ``(*batch, in_features)``.
        rngs: What the call got: streams, a stream or None for the stream that the cell keeps.
        carry_init: What fills the arrays; None means what the cell's `carry_init` says.
        count: How many arrays there are.

    Raises:
        UnsetModeError: Neither the call nor the cell has a stream.
        RngsTypeError: `rngs` is neither streams nor a stream.
    """
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
    return tuple([fill(stream(), shape, cell.param_dtype) for _ in range(count)])


def check_step(
    cell: GatedCell, inputs: Array, of_inputs: Module, output: Array, of_output: Module
) -> None:
    """Refuse inputs and a last output that do not fit the kernels of the cell.

    Args:
        cell: The cell.
        inputs: One element of the sequence.
        of_inputs: The layer that takes it.
        output: What the carry has of the last step's output.
        of_output: The layer that takes it.

    Raises:
        LayerInputError: A last axis has another size.
    """
    name, rows = type(cell).__name__, rows_of(of_inputs)
    if rows is not None and jnp.shape(inputs)[-1:] != (rows,):
        features = jnp.shape(inputs)[-1] if jnp.ndim(inputs) else "its number of features"
        raise LayerInputError(
            name,
            "inputs",
            described(inputs),
            f"a last axis of size {size_held(cell, 'in_features', rows, 'kernel')}",
            f"nnx.{name}({features}, {cell.hidden_features}, ...), or inputs of shape "
            f"(..., {rows})",
        )
    rows = rows_of(of_output)
    check_carry(cell, output, cell.hidden_features if rows is None else rows)


def check_carry(cell: GatedCell, array: Any, size: int) -> None:
    """Refuse an array of a carry that does not have `size` as its last axis.

    Raises:
        LayerInputError: It has another, or is no array.
    """
    if getattr(array, "shape", ())[-1:] != (size,):
        held = size_held(cell, "hidden_features", size, "kernel")
        raise wrong_carry(cell, array, f"an array with a last axis of size {held}")


def wrong_carry(cell: GatedCell, carry: Any, expected: str) -> LayerInputError:
    """Return the error for a carry that does not fit the cell.

    Args:
        cell: The cell.
        carry: What was given.
        expected: What would do.
    """
    return LayerInputError(
        type(cell).__name__,
        "carry",
        described(carry),
        expected,
        "cell.initialize_carry(inputs.shape, rngs)",
    )
