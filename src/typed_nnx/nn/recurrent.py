"""``nnx.nn.recurrent``: recurrent cells, and the layers that run them over sequences."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypedDict, Unpack, overload

import jax
import jax.numpy as jnp
from typing_extensions import TypeVar

from typed_nnx._core.fields import data
from typed_nnx._core.filters import Filter
from typed_nnx._core.modules import A as A
from typed_nnx._core.modules import Module as Module
from typed_nnx._core.rngs import Rngs, RngStream
from typed_nnx._graph.rng_splits import split_rngs, streams_of
from typed_nnx._transforms.engine.prefixes import Carry, StateAxes
from typed_nnx._transforms.scan import scan
from typed_nnx.errors import LayerArgumentError, LayerInputError
from typed_nnx.nn._layers import Array, broadcasts, called_stream, described, kept_stream
from typed_nnx.nn._layers import Initializer as Initializer
from typed_nnx.nn._rnn_cells import GRUCell as GRUCell
from typed_nnx.nn._rnn_cells import LSTMCell as LSTMCell
from typed_nnx.nn._rnn_cells import OptimizedLSTMCell as OptimizedLSTMCell
from typed_nnx.nn._rnn_cells import RNNCellBase as RNNCellBase
from typed_nnx.nn._rnn_cells import SimpleCell as SimpleCell
from typed_nnx.nn._rnn_cells import modified_orthogonal as modified_orthogonal
from typed_nnx.nn.activations import sigmoid as sigmoid
from typed_nnx.nn.activations import tanh as tanh
from typed_nnx.nn.linear import Linear as Linear

_Tree: TypeAlias = Any
"""A pytree of arrays, such as a carry."""

_Step: TypeAlias = Callable[[RNNCellBase, Any, Array], Any]
"""Cell, carry and inputs -> the next carry and what a step gives."""


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
    lengths = _lengths_of(inputs, seq_lengths, num_batch_dims, time_axis)
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


def _lengths_of(inputs: Array, seq_lengths: Array, num_batch_dims: int, time_axis: int) -> Array:
    lengths = jnp.asarray(seq_lengths)
    shape = [size for axis, size in enumerate(inputs.shape) if axis != time_axis]
    batch = tuple(shape[:num_batch_dims])
    is_integer = jnp.issubdtype(lengths.dtype, jnp.integer)
    if not is_integer or not broadcasts(lengths.shape, batch):
        raise LayerInputError(
            "RNN",
            "seq_lengths",
            described(lengths),
            f"integers of shape {batch}: a length for each sequence in {described(inputs)}",
            "seq_lengths=mask.sum(axis=time_axis), or None if nothing is padding",
        )
    return lengths if lengths.shape == batch else jnp.broadcast_to(lengths, batch)


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


C = TypeVar("C", bound=RNNCellBase)
C_co = TypeVar("C_co", bound=RNNCellBase, default=RNNCellBase, covariant=True)
F = TypeVar("F", bound=RNNBase)
F_co = TypeVar("F_co", bound=RNNBase, default=Any, covariant=True)
B = TypeVar("B", bound=RNNBase)
B_co = TypeVar("B_co", bound=RNNBase, default=Any, covariant=True)
R_co = TypeVar("R_co", default=Any, covariant=True)
"""What a call of a layer returns: outputs, or the last carry and outputs."""


class _LayerOptions(TypedDict, total=False):
    time_major: bool
    rngs: Rngs | RngStream | bool


class _RNNOptions(_LayerOptions, total=False):
    reverse: bool
    keep_order: bool
    unroll: int
    state_axes: Mapping[Any, int | type[Carry] | None] | None
    broadcast_rngs: Filter


class _BidirectionalOptions(_LayerOptions, total=False):
    merge_fn: Callable[[Array, Array], Array]


class _CallOptions(TypedDict, total=False):
    rngs: Rngs | RngStream | None
    seq_lengths: Array | None
    time_major: bool | None
    reverse: bool | None
    keep_order: bool | None


class _RNNCallOptions(_CallOptions, total=False):
    initial_carry: Any


class _BidirectionalCallOptions(_CallOptions, total=False):
    initial_carry: tuple[Any, Any] | None


class RNN(Module, Generic[C_co, R_co]):
    """A recurrent cell run over sequences.

    >>> from typed_nnx.nn._rnn_cells import LSTMCell
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
        state_axes: How the scan treats the Variables of the cell, by filter, as in `StateAxes`: `Carry`
            for what a step may assign to and the next one sees, an axis of Variables that hold a
            value for each step, None for what is the same in each step. None means `Carry` for all.
        broadcast_rngs: The streams of the cell, by filter, that give the same keys in each step.
        rngs: Streams of which ``carry`` is forked, or the stream itself, for the first carry;
            True for a stream that starts from seed 0, False for none.

    Raises:
        LayerArgumentError: `cell` is not a cell.
        RngsTypeError: `rngs` is none of these.
    """

    cell: C_co
    rngs: RngStream | None
    state_axes: StateAxes

    @overload
    def __init__(
        self: RNN[C, Array],
        cell: C,
        *,
        return_carry: Literal[False] = False,
        **options: Unpack[_RNNOptions],
    ) -> None: ...

    @overload
    def __init__(
        self: RNN[C, tuple[Any, Array]],
        cell: C,
        *,
        return_carry: Literal[True],
        **options: Unpack[_RNNOptions],
    ) -> None: ...

    @overload
    def __init__(
        self: RNN[C, Any], cell: C, *, return_carry: bool, **options: Unpack[_RNNOptions]
    ) -> None: ...

    def __init__(
        self: RNN[C, Any],
        cell: C,
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
        if not hasattr(type(cell), "num_feature_axes"):
            name = type(self).__name__
            raise LayerArgumentError(
                name,
                "cell",
                f"a {type(cell).__name__}",
                "a recurrent cell: an nnx.RNNCellBase",
                f"nnx.{name}(nnx.LSTMCell(...))",
            )
        self.cell = cell
        self.time_major: bool = time_major
        self.return_carry: bool = return_carry
        self.reverse: bool = reverse
        self.keep_order: bool = keep_order
        self.unroll: int = unroll
        stream = kept_stream(self, rngs)
        self.rngs = data(None) if stream is None else stream
        self.state_axes = StateAxes(state_axes or {...: Carry})
        self.broadcast_rngs: Filter = broadcast_rngs

    @overload
    def __call__(
        self, inputs: Array, *, return_carry: None = None, **options: Unpack[_RNNCallOptions]
    ) -> R_co: ...

    @overload
    def __call__(
        self, inputs: Array, *, return_carry: Literal[True], **options: Unpack[_RNNCallOptions]
    ) -> tuple[Any, Array]: ...

    @overload
    def __call__(
        self, inputs: Array, *, return_carry: bool | None = None, **options: Unpack[_RNNCallOptions]
    ) -> Any: ...

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
            seq_lengths = _lengths_of(inputs, seq_lengths, batches, time_axis)
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
            # Of the carries [time, *batch, ...] of all steps, that of each sequence's last one.
            last = seq_lengths - 1
            batch = jnp.indices(last.shape, dtype=last.dtype, sparse=True)
            carry = jax.tree.map(lambda x: x[(last, *batch)], carries)
        else:
            carry, outputs = run(_step, time_axis, initial_carry, inputs, time_axis)
        if reverse and keep_order:
            outputs = jax.tree.map(
                lambda x: flip_sequences(x, seq_lengths, batches, time_major), outputs
            )
        return (carry, outputs) if return_carry else outputs


def _step(cell: RNNCellBase, carry: _Tree, inputs: Array) -> tuple[_Tree, Array]:
    return cell(carry, inputs)


def _step_with_carry(cell: RNNCellBase, carry: _Tree, inputs: Array) -> tuple[_Tree, _Tree]:
    carry, outputs = cell(carry, inputs)
    return carry, (carry, outputs)


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


def _scan(
    layer: RNN, step: _Step, out_axis: _Tree, carry: _Tree, inputs: Array, time_axis: int
) -> _Tree:
    run = scan(
        step,
        in_axes=(layer.state_axes, Carry, time_axis),
        out_axes=(Carry, out_axis),
        unroll=layer.unroll,
    )
    return run(layer.cell, carry, inputs)


def _scan_with_repeated_keys(layer: RNN, step: _Step, *args: _Tree) -> _Tree:
    """Scan with streams that start each step from the same key."""
    with split_rngs(layer.cell, splits=1, only=layer.broadcast_rngs, squeeze=True) as repeated:
        renewed = [stream for stream, *_ in repeated]
        paths = {
            path for path, stream in streams_of(layer.cell) if any(stream is one for one in renewed)
        }

        def rewinding(cell: RNNCellBase, carry: _Tree, inputs: Array) -> _Tree:
            result = step(cell, carry, inputs)
            for path, stream in streams_of(cell):
                if path in paths:
                    stream.count.set_value(jnp.zeros_like(stream.count[...]))
            return result

        return _scan(layer, rewinding, *args)


def _concatenate(a: Array, b: Array) -> Array:
    return jnp.concatenate([a, b], axis=-1)


class Bidirectional(Module, Generic[F_co, B_co, R_co]):
    """Two recurrent layers over the same sequences, one of which runs backwards.

    >>> from typed_nnx.nn._rnn_cells import GRUCell
    >>> from typed_nnx.nn.recurrent import RNN
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

    forward_rnn: F_co
    backward_rnn: B_co
    merge_fn: Callable[[Array, Array], Array] = _concatenate
    time_major: bool = False
    return_carry: bool = False
    rngs: RngStream | None

    @overload
    def __init__(
        self: Bidirectional[F, B, Array],
        forward_rnn: F,
        backward_rnn: B,
        *,
        return_carry: Literal[False] = False,
        **options: Unpack[_BidirectionalOptions],
    ) -> None: ...

    @overload
    def __init__(
        self: Bidirectional[F, B, tuple[Any, Array]],
        forward_rnn: F,
        backward_rnn: B,
        *,
        return_carry: Literal[True],
        **options: Unpack[_BidirectionalOptions],
    ) -> None: ...

    @overload
    def __init__(
        self: Bidirectional[F, B, Any],
        forward_rnn: F,
        backward_rnn: B,
        *,
        return_carry: bool,
        **options: Unpack[_BidirectionalOptions],
    ) -> None: ...

    def __init__(
        self: Bidirectional[F, B, Any],
        forward_rnn: F,
        backward_rnn: B,
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
        stream = kept_stream(self, rngs)
        self.rngs = data(None) if stream is None else stream

    @overload
    def __call__(
        self,
        inputs: Array,
        *,
        return_carry: None = None,
        **options: Unpack[_BidirectionalCallOptions],
    ) -> R_co: ...

    @overload
    def __call__(
        self,
        inputs: Array,
        *,
        return_carry: Literal[True],
        **options: Unpack[_BidirectionalCallOptions],
    ) -> tuple[Any, Array]: ...

    @overload
    def __call__(
        self,
        inputs: Array,
        *,
        return_carry: bool | None = None,
        **options: Unpack[_BidirectionalCallOptions],
    ) -> Any: ...

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

        Arguments are those of `RNN`, with a pair as `initial_carry`. Both directions run whatever
        `reverse` and `keep_order` say.

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
        shared: dict[str, _Tree] = {
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


def _carries(layer: Bidirectional, carry: object) -> tuple[_Tree, _Tree]:
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
