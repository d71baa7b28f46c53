"""`Bidirectional`: two recurrent layers, one of which runs backwards."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from typed_nnx._core.fields import data
from typed_nnx._core.module import Module
from typed_nnx._core.rngs import Rngs, RngStream
from typed_nnx.errors import LayerInputError
from typed_nnx.nn._rnn import RNNBase
from typed_nnx.nn._shapes import described
from typed_nnx.nn._streams import called_stream, kept_stream
from typed_nnx.nn._typing import Array


def _concatenate(a: Array, b: Array) -> Array:
    """Return both along the last axis."""
    return jnp.concatenate([a, b], axis=-1)


class Bidirectional(Module):
    """Two recurrent layers over the same sequences, one of which runs backwards.

    >>> from typed_nnx.nn._gru import GRUCell
    >>> from typed_nnx.nn._rnn import RNN
    >>> rngs = Rngs(0)
    >>> layer = Bidirectional(RNN(GRUCell(3, 4, rngs=rngs)), RNN(GRUCell(3, 4, rngs=rngs)))
    >>> layer(jnp.ones((2, 5, 3))).shape
    (2, 5, 8)

    Args:
        forward_rnn: The layer that runs from the first element to the last.
        backward_rnn: The layer that runs from the last element to the first; its outputs stand in
            the order of the inputs.
        merge_fn: Makes one output of those of both, for each step; concatenates them.
        time_major: Whether time is the first axis.
        return_carry: Whether to return the last carries too.
        rngs: Streams of which ``carry`` is forked, or the stream itself, for the first carries;
            True for a stream that starts from seed 0, False for none, so that each layer takes its
            own.

    Raises:
        RngsTypeError: `rngs` is none of these.

    Source: Schuster and Paliwal, "Bidirectional Recurrent Neural Networks", 1997.
    """

    forward_rnn: RNNBase
    backward_rnn: RNNBase
    merge_fn: Callable[[Array, Array], Array] = _concatenate
    time_major: bool = False
    return_carry: bool = False
    rngs: RngStream | None

    def __init__(
        self,
        forward_rnn: RNNBase,
        backward_rnn: RNNBase,
        *,
        merge_fn: Callable[[Array, Array], Array] = _concatenate,
        time_major: bool = False,
        return_carry: bool = False,
        rngs: Rngs | RngStream | bool = True,
    ) -> None:
        if forward_rnn is backward_rnn:
            logging.getLogger("typed_nnx").warning(
                "%s: forward_rnn and backward_rnn are one object, so both directions share its "
                "parameters.\n  Fix: make two layers, unless that is intended",
                type(self).__name__,
            )
        self.forward_rnn = forward_rnn
        self.backward_rnn = backward_rnn
        self.merge_fn = merge_fn
        self.time_major = time_major
        self.return_carry = return_carry
        stream = kept_stream(self, rngs, "carry")
        self.rngs = data(None) if stream is None else stream

    def __call__(
        self,
        inputs: Array,
        *,
        initial_carry: tuple[Any, Any] | None = None,
        rngs: Rngs | RngStream | None = None,
        seq_lengths: Array | None = None,
        return_carry: bool | None = None,
        time_major: bool | None = None,
        reverse: bool | None = None,
        keep_order: bool | None = None,
    ) -> Any:  # with the carries, if the argument or the option says so
        """Return the merged outputs, or both last carries and the outputs if `return_carry`.

        Args:
            inputs: Any dtype, [*batch, time, *features]; [time, *batch, *features] if `time_major`.
            initial_carry: The first carries, of `forward_rnn` and of `backward_rnn`.
            rngs: Streams, or a stream, for the first carries, in place of the layer's own.
            seq_lengths: Integers [*batch]: how many elements of each sequence are no padding.
            return_carry: In place of the constructor's.
            time_major: In place of the constructor's.
            reverse: Accepted so that this is an `RNNBase`; both directions run either way.
            keep_order: Accepted so that this is an `RNNBase`; the order is always kept.

        Returns:
            ``outputs``, or ``((forward_carry, backward_carry), outputs)``.

        Raises:
            LayerInputError: `initial_carry` is no pair.
            RngsTypeError: `rngs` is none of these.
        """
        del reverse, keep_order
        return_carry = self.return_carry if return_carry is None else return_carry
        time_major = self.time_major if time_major is None else time_major
        forward, backward = _carries(self, initial_carry)
        shared: dict[str, Any] = {
            "rngs": called_stream(self, rngs, self.rngs, "carry"),
            "seq_lengths": seq_lengths,
            "return_carry": True,
            "time_major": time_major,
        }
        carry_f, outputs_f = self.forward_rnn(
            inputs, initial_carry=forward, reverse=False, **shared
        )
        carry_b, outputs_b = self.backward_rnn(
            inputs, initial_carry=backward, reverse=True, keep_order=True, **shared
        )
        outputs = jax.tree.map(self.merge_fn, outputs_f, outputs_b)
        return ((carry_f, carry_b), outputs) if return_carry else outputs


def _carries(layer: Bidirectional, carry: object) -> tuple[Any, Any]:
    if carry is None:
        return None, None
    if not isinstance(carry, tuple | list) or len(carry) != 2:
        raise LayerInputError(
            type(layer).__name__,
            "initial_carry",
            described(carry),
            "a pair: the first carries of forward_rnn and of backward_rnn",
            "initial_carry=(forward_carry, backward_carry)",
        )
    forward, backward = carry
    return forward, backward
