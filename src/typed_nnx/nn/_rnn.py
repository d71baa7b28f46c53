"""`RNN`: a recurrent cell run over sequences."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Protocol

import jax
import jax.numpy as jnp

from typed_nnx._core.fields import data
from typed_nnx._core.filters import Filter
from typed_nnx._core.module import Module
from typed_nnx._core.rngs import Rngs, RngStream
from typed_nnx._transforms.prefixes import Carry, StateAxes
from typed_nnx._transforms.rng_backups import streams_of
from typed_nnx._transforms.rng_splits import split_rngs
from typed_nnx._transforms.scan import scan
from typed_nnx.errors import LayerArgumentError, LayerInputError
from typed_nnx.nn._flip_sequences import flip_sequences, lengths_of
from typed_nnx.nn._rnn_cell import RNNCellBase
from typed_nnx.nn._shapes import described
from typed_nnx.nn._streams import called_stream, kept_stream
from typed_nnx.nn._typing import Array


class RNNBase(Protocol):
    """What `Bidirectional` calls: a layer like `RNN`."""

    def __call__(
        self,
        inputs: Array,
        *,
        initial_carry: Any | None = None,
        rngs: Rngs | RngStream | None = None,
        seq_lengths: Array | None = None,
        return_carry: bool | None = None,
        time_major: bool | None = None,
        reverse: bool | None = None,
        keep_order: bool | None = None,
    ) -> Any:
        """Return the outputs for a sequence, or the last carry and the outputs."""
        ...


class RNN(Module):
    """A recurrent cell run over sequences.

    >>> from typed_nnx.nn._lstm import LSTMCell
    >>> layer = RNN(LSTMCell(3, 4, rngs=Rngs(0)))
    >>> layer(jnp.ones((2, 5, 3))).shape
    (2, 5, 4)

    Args:
        cell: The cell.
        time_major: Whether time is the first axis; otherwise it is that before the features.
        return_carry: Whether to return the last carry too.
        reverse: Whether to go from the last element to the first.
        keep_order: Whether outputs of a reversed run stand in the order of the inputs.
        unroll: How many steps one iteration of the compiled loop makes.
        state_axes: What becomes of the Variables of the cell, by filter, as in `StateAxes`: `Carry`
            for what a step may assign to and the next one sees, an axis of Variables that hold a
            value for each step, None for what is the same in each step. None means `Carry` for all.
        broadcast_rngs: The streams of the cell, by filter, that give the same keys in each step.
        rngs: Streams of which ``carry`` is forked, or the stream itself, for the first carry;
            True for a stream that starts from seed 0, False for none.

    Raises:
        LayerArgumentError: `cell` is not a cell.
        RngsTypeError: `rngs` is none of these.
    """

    cell: RNNCellBase
    rngs: RngStream | None
    state_axes: StateAxes

    def __init__(
        self,
        cell: RNNCellBase,
        *,
        time_major: bool = False,
        return_carry: bool = False,
        reverse: bool = False,
        keep_order: bool = False,
        unroll: int = 1,
        state_axes: Mapping[Any, int | type[Carry] | None] | None = None,
        broadcast_rngs: Filter = None,
        rngs: Rngs | RngStream | bool = True,
    ) -> None:
        _check_cell(self, cell)
        self.cell = cell
        self.time_major: bool = time_major
        self.return_carry: bool = return_carry
        self.reverse: bool = reverse
        self.keep_order: bool = keep_order
        self.unroll: int = unroll
        stream = kept_stream(self, rngs, "carry")
        self.rngs = data(None) if stream is None else stream
        self.state_axes = StateAxes(state_axes or {...: Carry})
        self.broadcast_rngs: Filter = broadcast_rngs

    def __call__(
        self,
        inputs: Array,
        *,
        initial_carry: Any | None = None,
        seq_lengths: Array | None = None,
        return_carry: bool | None = None,
        time_major: bool | None = None,
        reverse: bool | None = None,
        keep_order: bool | None = None,
        rngs: Rngs | RngStream | None = None,
    ) -> Any:
        """Return the output of each step, or the last carry and the outputs if `return_carry`.

        Args:
            inputs: Any dtype, [*batch, time, *features]; [time, *batch, *features] if `time_major`.
            initial_carry: The first carry; None means what the cell's `initialize_carry` returns.
            seq_lengths: Integers [*batch]: how many elements of each sequence are no padding. The
                last carry is that after them, and a reversed run starts with the last of them.
            return_carry: In place of the constructor's.
            time_major: In place of the constructor's.
            reverse: In place of the constructor's.
            keep_order: In place of the constructor's.
            rngs: Streams, or a stream, for the first carry, in place of the layer's own.

        Returns:
            ``outputs``, with the axes of batch and time as in `inputs`; or ``(carry, outputs)``.

        Raises:
            LayerInputError: Inputs or lengths do not have the axes that they need.
            UnsetModeError: The first carry takes a key and there is no stream.
            CarryTypeError: The cell returns a carry of another shape or dtype than it was given.
            RngsTypeError: `rngs` is none of these.
        """
        return_carry = self.return_carry if return_carry is None else return_carry
        time_major = self.time_major if time_major is None else time_major
        reverse = self.reverse if reverse is None else reverse
        keep_order = self.keep_order if keep_order is None else keep_order
        batches = _number_of_batch_axes(self, inputs)
        time_axis = 0 if time_major else batches
        if seq_lengths is not None:
            seq_lengths = lengths_of(inputs, seq_lengths, batches, time_axis)
        if reverse:
            inputs = flip_sequences(inputs, seq_lengths, batches, time_major)
        if initial_carry is None:
            stream = called_stream(self, rngs, self.rngs, "carry")
            if isinstance(rngs, Rngs) and stream is not None:
                stream = stream.fork()
            shape = inputs.shape[:time_axis] + inputs.shape[time_axis + 1 :]
            initial_carry = self.cell.initialize_carry(shape, stream)
        scan_ = _scan if self.broadcast_rngs is None else _scan_with_repeated_keys
        run = functools.partial(scan_, self)
        if return_carry and seq_lengths is not None:
            _, (carries, outputs) = run(
                _step_with_carry, (0, time_axis), initial_carry, inputs, time_axis
            )
            carry = _last_carry(carries, seq_lengths)
        else:
            carry, outputs = run(_step, time_axis, initial_carry, inputs, time_axis)
        if reverse and keep_order:
            outputs = jax.tree.map(
                lambda x: flip_sequences(x, seq_lengths, batches, time_major), outputs
            )
        return (carry, outputs) if return_carry else outputs


def _step(cell: RNNCellBase, carry: Any, inputs: Array) -> tuple[Any, Array]:
    return cell(carry, inputs)


def _step_with_carry(cell: RNNCellBase, carry: Any, inputs: Array) -> tuple[Any, Any]:
    carry, outputs = cell(carry, inputs)
    return carry, (carry, outputs)


def _last_carry(carries: Any, seq_lengths: Array) -> Any:
    """Return of the carries [time, *batch, ...] of all steps that of each sequence's last one."""
    last = seq_lengths - 1
    batch = jnp.indices(last.shape, dtype=last.dtype, sparse=True)
    return jax.tree.map(lambda x: x[(last, *batch)], carries)


def _check_cell(layer: RNN, cell: object) -> None:
    if not hasattr(type(cell), "num_feature_axes"):
        name = type(layer).__name__
        raise LayerArgumentError(
            name,
            "cell",
            f"a {type(cell).__name__}",
            "a recurrent cell: an nnx.RNNCellBase",
            f"nnx.{name}(nnx.LSTMCell(...))",
        )


def _number_of_batch_axes(layer: RNN, inputs: Array) -> int:
    batches = jnp.ndim(inputs) - layer.cell.num_feature_axes - 1
    if batches < 0:
        raise LayerInputError(
            type(layer).__name__,
            "inputs",
            described(inputs),
            f"an axis of time and {layer.cell.num_feature_axes} of features",
            "inputs of shape (*batch, time, features)",
        )
    return batches


def _scan(layer: RNN, step: Any, out_axis: Any, carry: Any, inputs: Array, time_axis: int) -> Any:
    run = scan(
        step,
        in_axes=(layer.state_axes, Carry, time_axis),
        out_axes=(Carry, out_axis),
        unroll=layer.unroll,
    )
    return run(layer.cell, carry, inputs)


def _scan_with_repeated_keys(layer: RNN, step: Any, *args: Any) -> Any:
    """Scan with streams that start each step from the same key."""
    with split_rngs(layer.cell, splits=1, only=layer.broadcast_rngs, squeeze=True) as repeated:
        renewed = [stream for stream, *_ in repeated]
        paths = {
            path for path, stream in streams_of(layer.cell) if any(stream is one for one in renewed)
        }

        def rewinding(cell: RNNCellBase, carry: Any, inputs: Array) -> Any:
            result = step(cell, carry, inputs)
            for path, stream in streams_of(cell):
                if path in paths:
                    stream.count.set_value(jnp.zeros_like(stream.count[...]))
            return result

        return _scan(layer, rewinding, *args)
