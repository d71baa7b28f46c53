"""`flip_sequences`: reversal of sequences that have lengths of their own."""

from __future__ import annotations

import jax.numpy as jnp

from typed_nnx.errors import LayerInputError
from typed_nnx.nn._shapes import described
from typed_nnx.nn._typing import Array


def flip_sequences(
    inputs: Array, seq_lengths: Array | None, num_batch_dims: int, time_major: bool
) -> Array:
    """Return the sequences in reverse: the last element of each first, its padding at the end.

    >>> padded = jnp.array([[1, 2, 3, 0, 0]])
    >>> flip_sequences(padded, jnp.array([3]), num_batch_dims=1, time_major=False).tolist()
    [[3, 2, 1, 0, 0]]

    Args:
        inputs: Any dtype, [*batch, time, ...]; [time, *batch, ...] if `time_major`.
        seq_lengths: Integers [*batch]: how many elements of each sequence are no padding, which is
            reversed too. None means all.
        num_batch_dims: How many batch axes there are.
        time_major: Whether the axis of time comes before the batch axes.

    Raises:
        LayerInputError: `seq_lengths` do not broadcast to the batch axes.
    """
    time_axis = 0 if time_major else num_batch_dims
    if seq_lengths is None:
        return jnp.flip(inputs, axis=time_axis)
    lengths = lengths_of(inputs, seq_lengths, num_batch_dims, time_axis)
    size = inputs.shape[time_axis]
    along_time = [1] * (num_batch_dims + 1)
    along_time[time_axis] = size
    lengths = jnp.expand_dims(lengths, time_axis)
    backwards = jnp.arange(size - 1, -1, -1, dtype=lengths.dtype).reshape(along_time)
    # Indices wrap around: those before the first element are those of the padding.
    positions = (backwards + lengths) % size
    features = inputs.ndim - num_batch_dims - 1
    return jnp.take_along_axis(
        inputs, positions.reshape(positions.shape + (1,) * features), axis=time_axis
    )


def lengths_of(inputs: Array, seq_lengths: Array, num_batch_dims: int, time_axis: int) -> Array:
    """Return the lengths as integers [*batch].

    Args:
        inputs: The sequences.
        seq_lengths: What was given as their lengths.
        num_batch_dims: How many batch axes there are.
        time_axis: The axis of time.

    Raises:
        LayerInputError: `seq_lengths` are no integers or do not broadcast to the batch axes.
    """
    lengths = jnp.asarray(seq_lengths)
    shape = [size for axis, size in enumerate(inputs.shape) if axis != time_axis]
    batch = tuple(shape[:num_batch_dims])
    fits = lengths.ndim <= len(batch) and all(
        size in (1, wanted) for size, wanted in zip(lengths.shape[::-1], batch[::-1], strict=False)
    )
    if not fits or not jnp.issubdtype(lengths.dtype, jnp.integer):
        raise LayerInputError(
            "RNN",
            "seq_lengths",
            described(lengths),
            f"integers of shape {batch}: a length for each sequence in {described(inputs)}",
            "seq_lengths=mask.sum(axis=time_axis), or None if nothing is padding",
        )
    return lengths if lengths.shape == batch else jnp.broadcast_to(lengths, batch)
