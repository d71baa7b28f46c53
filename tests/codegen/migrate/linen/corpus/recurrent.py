"""Sequences by cells, scans and the RNN layers."""

from __future__ import annotations

import functools
from typing import Any, Optional, Tuple

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

Array = Any


class SimpleLSTM(nn.Module):
    """A class decorated by method, as in the examples for text."""

    hidden_size: int

    @functools.partial(
        nn.transforms.scan,
        variable_broadcast="params",
        in_axes=1,
        out_axes=1,
        split_rngs={"params": False},
    )
    @nn.compact
    def __call__(self, carry, x):
        return nn.OptimizedLSTMCell(self.hidden_size)(carry, x)

    def initialize_carry(self, input_shape):
        return nn.OptimizedLSTMCell(self.hidden_size, parent=None).initialize_carry(
            jax.random.key(0), input_shape
        )


class SimpleBiLSTM(nn.Module):
    hidden_size: int

    def setup(self):
        self.forward_lstm = SimpleLSTM(self.hidden_size)
        self.backward_lstm = SimpleLSTM(self.hidden_size)

    def __call__(self, embedded_inputs):
        shape = embedded_inputs[:, 0].shape
        initial_state = self.forward_lstm.initialize_carry(shape)
        _, forward_outputs = self.forward_lstm(initial_state, embedded_inputs)
        reversed_inputs = jnp.flip(embedded_inputs, axis=1)
        _, backward_outputs = self.backward_lstm(initial_state, reversed_inputs)
        backward_outputs = jnp.flip(backward_outputs, axis=1)
        return jnp.concatenate([forward_outputs, backward_outputs], -1)


class ClassScan(nn.Module):
    """The class form of scan, built in place."""

    features: int

    @nn.compact
    def __call__(self, xs):
        LSTM = nn.scan(
            nn.LSTMCell,
            variable_broadcast="params",
            split_rngs={"params": False},
            in_axes=1,
            out_axes=1,
        )
        lstm = LSTM(self.features)
        zeros = jnp.zeros((xs.shape[0], self.features))
        (c, h), ys = lstm((zeros, zeros), xs)
        return c, h, nn.Dense(3)(ys)


class FunctionScan(nn.Module):
    """The function form of scan over one cell."""

    features: int

    @nn.compact
    def __call__(self, xs):
        cell = nn.GRUCell(self.features)
        carry = jnp.zeros((xs.shape[0], self.features))

        def step(cell, carry, x):
            carry, y = cell(carry, x)
            return carry, y

        scan = nn.scan(
            step, variable_broadcast="params", split_rngs={"params": False}, in_axes=1, out_axes=1
        )
        carry, ys = scan(cell, carry, xs)
        return carry, ys


class RNNStack(nn.Module):
    hidden: Tuple[int, ...]

    @nn.compact
    def __call__(self, x, lengths=None):
        for width in self.hidden:
            x = nn.RNN(nn.OptimizedLSTMCell(width))(x, seq_lengths=lengths)
            x = nn.LayerNorm()(x)
        return x


class TextClassifier(nn.Module):
    vocab: int
    features: int

    @nn.compact
    def __call__(self, tokens, mask):
        x = nn.Embed(self.vocab, 5)(tokens)
        forward = nn.RNN(nn.LSTMCell(self.features))
        backward = nn.RNN(nn.LSTMCell(self.features), reverse=True, keep_order=True)
        x = nn.Bidirectional(forward, backward)(x)
        x = jnp.where(mask[..., None], x, 0.0).sum(1) / mask.sum(1, keepdims=True)
        return nn.Dense(1)(x)[..., 0]


class UnrolledLSTM(nn.Module):
    """A Python loop over time with one cell."""

    hidden: int
    layers: int = 1

    @nn.compact
    def __call__(self, x, carry: Optional[Any] = None):
        cells = [nn.OptimizedLSTMCell(self.hidden, name=f"cell_{i}") for i in range(self.layers)]
        if carry is None:
            zeros = jnp.zeros((x.shape[0], self.hidden))
            carry = [(zeros, zeros) for _ in cells]
        outputs = []
        for t in range(x.shape[1]):
            y = x[:, t]
            new_carry = []
            for cell, state in zip(cells, carry):
                state, y = cell(state, y)
                new_carry.append(state)
            carry = new_carry
            outputs.append(y)
        return carry, jnp.stack(outputs, axis=1)


class Seq2SeqDecoderCell(nn.Module):
    """Feeds back its own prediction or the teacher's."""

    vocab: int
    features: int
    teacher_force: bool

    @functools.partial(
        nn.scan,
        variable_broadcast="params",
        in_axes=1,
        out_axes=1,
        split_rngs={"params": False},
    )
    @nn.compact
    def __call__(self, carry, x):
        lstm_state, last_prediction = carry
        if not self.teacher_force:
            x = last_prediction
        lstm_state, y = nn.LSTMCell(self.features)(lstm_state, x)
        logits = nn.Dense(features=self.vocab)(y)
        prediction = jax.nn.one_hot(jnp.argmax(logits, axis=-1), self.vocab)
        return (lstm_state, prediction), (logits, prediction)


class Seq2Seq(nn.Module):
    vocab: int
    hidden_size: int
    teacher_force: bool = True

    @nn.compact
    def __call__(self, encoder_inputs, decoder_inputs):
        encoder = nn.RNN(nn.LSTMCell(self.hidden_size), return_carry=True, name="encoder")
        decoder = Seq2SeqDecoderCell(
            self.vocab, self.hidden_size, self.teacher_force, name="decoder"
        )
        state, _ = encoder(encoder_inputs)
        _, (logits, predictions) = decoder((state, decoder_inputs[:, 0]), decoder_inputs[:, :-1])
        return logits, predictions


class ConvRecurrent(nn.Module):
    features: int

    @nn.compact
    def __call__(self, frames):
        cell = nn.ConvLSTMCell(self.features, kernel_size=(3, 3))
        state = cell.initialize_carry(jax.random.key(0), frames[:, 0].shape)
        for t in range(frames.shape[1]):
            state, out = cell(state, frames[:, t])
        return nn.Conv(1, (1, 1))(out)


class Normalised(nn.Module):
    """All steps have the same statistics."""

    @nn.compact
    def __call__(self, carry, x):
        y = nn.BatchNorm(use_running_average=True)(nn.Dense(3)(x))
        return carry + y.sum(), y


class StatisticsOverTime(nn.Module):
    @nn.compact
    def __call__(self, xs):
        return nn.scan(
            Normalised,
            variable_broadcast=("params", "batch_stats"),
            split_rngs={"params": False},
        )()(0.0, xs)


class CellInLoop(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        cell = nn.LSTMCell(self.features)
        carry = cell.initialize_carry(jax.random.key(0), x[:, 0].shape)
        outputs = []
        for t in range(x.shape[1]):
            carry, y = cell(carry, x[:, t])
            outputs.append(y)
        return jnp.stack(outputs, axis=1), carry


class CarryWithoutCell(nn.Module):
    """The first carry comes from a cell that has no parameters."""

    features: int

    @nn.compact
    def __call__(self, x):
        (c, h) = nn.OptimizedLSTMCell(self.features, parent=None).initialize_carry(
            jax.random.key(1), x[:, 0].shape
        )
        cell = nn.OptimizedLSTMCell(self.features)
        (c, h), y = cell((c, h), x[:, 0])
        (c, h), y = cell((c, h), x[:, 1])
        return nn.Dense(2)(y), c


class BothWays(nn.Module):
    """Built in setup, the cells belong to the layers; their carries are tuples."""

    features: int

    def setup(self):
        self.both = nn.Bidirectional(
            nn.RNN(nn.LSTMCell(self.features)), nn.RNN(nn.GRUCell(self.features))
        )
        self.head = nn.Dense(2)

    def __call__(self, x):
        return self.head(self.both(x))


class ListedDirections(nn.Module):
    """A local function makes the parts of layers in a list, whose sizes differ."""

    features: int
    depth: int = 2

    def setup(self):
        make = lambda: nn.RNN(nn.OptimizedLSTMCell(self.features))  # noqa: E731 - what is tested
        self.layers = [nn.Bidirectional(make(), make()) for _ in range(self.depth)]

    def __call__(self, x, lengths):
        for layer in self.layers:
            x = layer(x, seq_lengths=lengths)
        return x


class ReadsBothStates(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        forward = nn.RNN(nn.LSTMCell(self.features), return_carry=True)
        (c, h), ys = forward(x)
        return nn.Dense(2)(jnp.concatenate([c, h], -1)), ys


class TwoLayerCell(nn.RNNCellBase):
    features: int
    depth: int = 2

    @nn.compact
    def __call__(self, carry, inputs):
        states = []
        for layer in range(self.depth):
            state, inputs = nn.LSTMCell(self.features, name=f"layer_{layer}")(carry[layer], inputs)
            states.append(state)
        return tuple(states), nn.Dense(3)(inputs)

    def initialize_carry(self, rng, input_shape):
        zeros = jnp.zeros((*input_shape[:-1], self.features))
        return tuple((zeros, zeros) for _ in range(self.depth))

    @property
    def num_feature_axes(self):
        return 1


class UsesCell(nn.Module):
    @nn.compact
    def __call__(self, x):
        cell = TwoLayerCell(4)
        zeros = jnp.zeros((x.shape[0], 4))
        carry = ((zeros, zeros), (zeros, zeros))
        carry, first = cell(carry, x[:, 0])
        carry, second = cell(carry, x[:, 1])
        return first + second


class RunsCell(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.RNN(TwoLayerCell(4))(x)


class CellInField(nn.Module):
    cell: Any = nn.GRUCell
    features: int = 3

    @nn.compact
    def __call__(self, x):
        x = nn.RNN(self.cell(self.features))(x)
        return nn.Dense(2)(x)


class GivesCells(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = CellInField(cell=nn.MGUCell)(x)
        x = CellInField(cell=nn.LSTMCell, features=5)(x)
        return CellInField()(x)


class PartialCell(nn.Module):
    make: Any = functools.partial(nn.GRUCell, features=4)

    @nn.compact
    def __call__(self, x):
        return nn.RNN(self.make())(x)


SEQ = jnp.sin(jnp.arange(2 * 4 * 5.0)).reshape(2, 4, 5)
TOKENS = jnp.arange(8).reshape(2, 4)
MASK = jnp.array([[1, 1, 1, 0], [1, 1, 0, 0]], bool)
ZEROS = jnp.zeros((2, 6))
ONE_HOT = jax.nn.one_hot(TOKENS, 9)
XS = jnp.linspace(-1, 1, 40).reshape(2, 4, 5)
X = jnp.sin(jnp.arange(24.0)).reshape(2, 3, 4)
Z = jnp.full((2, 4), 0.1)

EXAMPLES = [
    Example(Build("ListedDirections", 3), SEQ, jnp.array([2, 4])),
    Example(Build("ListedDirections", 3, depth=1), SEQ, jnp.array([2, 4])),
    Example(Build("SimpleLSTM", 6), (ZEROS, ZEROS), SEQ),
    Example(Build("SimpleBiLSTM", 3), SEQ),
    Example(Build("ClassScan", 4), SEQ),
    Example(Build("FunctionScan", 4), SEQ),
    Example(Build("RNNStack", (4, 3)), SEQ),
    Example(Build("RNNStack", (4,)), SEQ, lengths=jnp.array([2, 4])),
    Example(Build("TextClassifier", 9, 3), TOKENS, MASK),
    Example(Build("UnrolledLSTM", 6), SEQ),
    Example(Build("UnrolledLSTM", 6, layers=2), SEQ, [(ZEROS, ZEROS), (ZEROS, ZEROS)]),
    Example(Build("Seq2SeqDecoderCell", 9, 6, True), ((ZEROS, ZEROS), ONE_HOT[:, 0]), ONE_HOT),
    Example(Build("Seq2Seq", 9, 4), ONE_HOT, ONE_HOT),
    Example(Build("Seq2Seq", 9, 4, teacher_force=False), ONE_HOT, ONE_HOT),
    Example(
        Build("ConvRecurrent", 3), jnp.sin(jnp.arange(2 * 3 * 4 * 4 * 2.0)).reshape(2, 3, 4, 4, 2)
    ),
    Example(Build("StatisticsOverTime"), XS),
    Example(Build("CellInLoop", 5), X),
    Example(Build("CarryWithoutCell", 5), X),
    Example(Build("BothWays", 5), X),
    Example(Build("ReadsBothStates", 3), X),
    Example(Build("TwoLayerCell", 4), ((Z, Z), (Z, -Z)), X[:, 0]),
    Example(Build("UsesCell"), X),
    Example(Build("RunsCell"), X),
    Example(Build("CellInField"), X),
    Example(Build("GivesCells"), X),
    Example(Build("PartialCell"), X),
]
