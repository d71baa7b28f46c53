"""RNN and Bidirectional against flax, and against steps taken by hand."""

from __future__ import annotations

import itertools
import logging
from typing import Any

import flax.nnx.nn.recurrent
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
import typed_nnx.nn.recurrent
from tests.nn.twins import LIBRARIES, Twins, assert_refused_alike, assert_same_bits, normal
from typed_nnx import errors

# flax warns of initializers in the constructor, which it takes all the same.
pytestmark = pytest.mark.filterwarnings("ignore:carry_init is provided:UserWarning")

quick = settings(max_examples=12, deadline=None)
CELLS = ("LSTMCell", "OptimizedLSTMCell", "GRUCell", "SimpleCell")
LENGTHS = jnp.array([2, 4])


def make(cell: str = "SimpleCell", **options: Any) -> Any:
    return lambda lib, rngs: lib.RNN(getattr(lib, cell)(3, 4, rngs=rngs), **options)


def assert_same_results(twins: Twins, *args: Any, **kwargs: Any) -> None:
    """Compare what a call returns and leaves behind; the programs differ in indices only."""
    ours, theirs = (layer(*args, **kwargs) for layer in twins.both)
    jax.tree.map(assert_same_bits, ours, theirs)
    twins.assert_states_equal()


@pytest.mark.thorough
@quick
@given(st.data())
def test_a_run_is_that_of_flax(data: Any) -> None:
    flags = {name: data.draw(st.booleans()) for name in ("time_major", "reverse", "keep_order")}
    at_call = {name: data.draw(st.sampled_from([None, True, False])) for name in flags}
    options = {
        "return_carry": data.draw(st.booleans()),
        "unroll": data.draw(st.sampled_from([1, 2])),
    }
    twins = Twins(make(data.draw(st.sampled_from(CELLS)), **flags, **options))
    twins.assert_made_alike()
    time_major = flags["time_major"] if at_call["time_major"] is None else at_call["time_major"]
    batch = data.draw(st.sampled_from([(), (2,)])) if not time_major else (2,)
    x = normal(4, *batch, 3) if time_major else normal(*batch, 4, 3)
    twins.assert_same_program(x, **at_call)


@pytest.mark.thorough
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("time_major", [False, True])
def test_a_run_over_sequences_of_other_lengths_is_that_of_flax(
    reverse: bool, time_major: bool
) -> None:
    twins = Twins(make("LSTMCell", time_major=time_major, return_carry=True, reverse=reverse))
    x = normal(4, 2, 3) if time_major else normal(2, 4, 3)
    for keep_order in (False, True):
        assert_same_results(twins, x, seq_lengths=LENGTHS, keep_order=keep_order)
    assert_same_results(twins, x, seq_lengths=LENGTHS, return_carry=False)


@pytest.mark.thorough
@pytest.mark.parametrize("cell", ["LSTMCell", "GRUCell"])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_run_is_the_steps_taken_by_hand(cell: str, reverse: bool) -> None:
    layer = make(cell, return_carry=True)(nnx, nnx.Rngs(0))
    x = normal(1, 2, 4, 3)  # two batch axes
    lengths = jnp.array([[2, 4]])
    carry, outputs = layer(x, seq_lengths=lengths, reverse=reverse, keep_order=True)
    for b, length in enumerate((2, 4)):
        one = layer.cell.initialize_carry((3,), nnx.Rngs(0))
        order = range(length)
        for t in reversed(order) if reverse else order:
            one, y = layer.cell(one, x[0, b, t])
            np.testing.assert_allclose(outputs[0, b, t], y, rtol=1e-5, atol=1e-6)
        jax.tree.map(
            lambda mine, hand, b=b: np.testing.assert_allclose(
                mine[0, b], hand, rtol=1e-5, atol=1e-6
            ),
            carry,
            one,
        )


@pytest.mark.thorough
@pytest.mark.parametrize("rngs", [True, False, "rngs", "stream"])
def test_first_carries_come_from_the_stream_that_flax_takes(rngs: Any) -> None:
    init = jax.nn.initializers.normal(1.0)

    def build(lib: Any, streams: Any) -> Any:
        cell = lib.SimpleCell(3, 4, carry_init=init, rngs=streams)
        # The signature of flax has a stream, which it then refuses: a stream taken out of Rngs.
        given_rngs = {"rngs": streams, "stream": lib.Rngs(carry=5)}.get(rngs, rngs)
        return lib.RNN(cell, rngs=given_rngs)

    twins, x = Twins(build), normal(2, 4, 3)
    twins.assert_made_alike()
    streams = [lib.Rngs(3, carry=4) for lib in LIBRARIES]
    if rngs is not False:
        assert_same_results(twins, x)
        assert_same_results(twins, x)
    for pick in (lambda r: r, lambda r: r.carry):
        ours, theirs = (
            layer(x, rngs=pick(r)) for layer, r in zip(twins.both, streams, strict=True)
        )
        assert_same_bits(ours, theirs)
    assert streams[0].carry.count[...] == streams[1].carry.count[...] == 2
    assert_same_results(twins, x, initial_carry=jnp.ones((2, 4)))


def a_cell_with_state(lib: Any, rngs: Any) -> Any:
    """Return a cell of one's own, with dropout and a count of steps."""

    class Counting(lib.RNNCellBase):
        def __init__(self) -> None:
            self.linear = lib.Linear(3, 4, rngs=rngs)
            self.dropout = lib.Dropout(0.5, rngs=rngs)
            self.steps = lib.BatchStat(jnp.array(0))

        def __call__(self, carry: Any, inputs: Any) -> Any:
            self.steps[...] += 1
            carry = carry + self.dropout(self.dropout(self.linear(inputs)))
            return carry, carry

        def initialize_carry(
            self, input_shape: Any, rngs: Any = None, carry_init: Any = None
        ) -> Any:
            return jnp.zeros((*input_shape[:-1], 4))

        @property
        def num_feature_axes(self) -> int:
            return 1

    return Counting()


@pytest.mark.thorough
@pytest.mark.parametrize("broadcast", [None, "dropout", ...], ids=str)
def test_state_of_the_cell_and_repeated_keys_are_as_in_flax(broadcast: Any) -> None:
    twins = Twins(lambda lib, rngs: lib.RNN(a_cell_with_state(lib, rngs), broadcast_rngs=broadcast))
    x = normal(2, 4, 3)
    for _ in range(2):
        assert_same_results(twins, x)
    assert twins.ours.cell.steps[...] == 8


def test_repeated_keys_drop_the_same_elements_in_each_step() -> None:
    rnn = nnx.RNN(a_cell_with_state(nnx, nnx.Rngs(0, dropout=1)), broadcast_rngs="dropout")
    outputs = np.asarray(rnn(jnp.ones((2, 4, 3))))
    np.testing.assert_allclose(np.diff(outputs, axis=1), np.repeat(outputs[:, :1], 3, 1), rtol=1e-5)
    assert (outputs == 0).any()


@pytest.mark.thorough
def test_state_axes_say_what_a_step_may_change() -> None:
    axes = {nnx.Param: None, nnx.RngState: nnx.Carry, ...: nnx.Carry}
    rnn: Any = nnx.RNN(a_cell_with_state(nnx, nnx.Rngs(0)), state_axes=axes)
    plain = nnx.RNN(a_cell_with_state(nnx, nnx.Rngs(0)))
    x = normal(2, 4, 3)
    assert_same_bits(rnn(x), plain(x))
    assert rnn.cell.steps[...] == 4


@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("batches", [0, 1, 2])
def test_flipped_sequences_are_those_of_flax(time_major: bool, batches: int) -> None:
    batch = (2, 3)[:batches]
    x = normal(4, *batch, 2) if time_major else normal(*batch, 4, 2)
    lengths = jnp.asarray(np.random.default_rng(0).integers(0, 5, batch))
    for given_lengths in (None, lengths):
        found = [
            library.flip_sequences(x, given_lengths, batches, time_major)
            for library in (typed_nnx.nn.recurrent, flax.nnx.nn.recurrent)
        ]
        assert_same_bits(*found)


@pytest.mark.thorough
def test_lengths_keep_their_dtype_under_x64() -> None:
    with jax.enable_x64(True):
        twins = Twins(make(return_carry=True, reverse=True))
        assert_same_results(twins, normal(2, 4, 3), seq_lengths=LENGTHS.astype(jnp.int64))
        with jax.numpy_dtype_promotion("strict"):
            twins.ours(normal(2, 4, 3), seq_lengths=jnp.array([1, 2], jnp.int32))


@pytest.mark.parametrize(
    ("options", "call"),
    [
        ({"rngs": False}, {}),
        ({}, {"rngs": 5}),
        ({}, {"seq_lengths": jnp.array([1, 2, 3])}),
        ({}, {"initial_carry": jnp.ones((2, 3))}),
        ({}, {"inputs": jnp.ones((2, 4, 5))}),
        ({}, {"inputs": jnp.ones((3,))}),
    ],
    ids=lambda v: str(list(v)),
)
def test_what_flax_refuses_is_refused(options: Any, call: Any) -> None:
    assert_refused_alike(
        lambda lib, rngs: (
            lambda: make(**options)(lib, rngs)(
                **{"inputs": jnp.ones((2, 4, 3)), "return_carry": True, **call}
            )
        )
    )


def both_ways(**options: Any) -> Any:
    def build(lib: Any, rngs: Any) -> Any:
        init = jax.nn.initializers.normal(1.0)
        forward = lib.RNN(lib.SimpleCell(3, 4, carry_init=init, rngs=rngs))
        backward = lib.RNN(lib.GRUCell(3, 4, carry_init=init, rngs=rngs))
        given_rngs = options.get("rngs", True)
        given_rngs = rngs if given_rngs == "rngs" else given_rngs
        return lib.Bidirectional(forward, backward, **{**options, "rngs": given_rngs})

    return build


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("time_major", "return_carry", "lengths"), list(itertools.product([False, True], repeat=3))
)
def test_both_directions_are_those_of_flax(
    time_major: bool, return_carry: bool, lengths: bool
) -> None:
    twins = Twins(both_ways(time_major=time_major, return_carry=return_carry))
    twins.assert_made_alike()
    x = normal(4, 2, 3) if time_major else normal(2, 4, 3)
    assert_same_results(twins, x, seq_lengths=LENGTHS if lengths else None)


@pytest.mark.thorough
@pytest.mark.parametrize("rngs", ["rngs", False])
def test_both_directions_take_the_keys_that_flax_takes(rngs: Any) -> None:
    twins, x = Twins(both_ways(rngs=rngs)), normal(2, 4, 3)
    twins.assert_made_alike()
    assert_same_results(twins, x)
    streams = [lib.Rngs(3, carry=4) for lib in LIBRARIES]
    for pick in (lambda r: r, lambda r: r.carry):
        ours, theirs = (
            layer(x, rngs=pick(r)) for layer, r in zip(twins.both, streams, strict=True)
        )
        assert_same_bits(ours, theirs)
    assert streams[0].carry.count[...] == streams[1].carry.count[...] == 4
    assert_same_results(twins, x, initial_carry=(jnp.ones((2, 4)), jnp.zeros((2, 4))))


@pytest.mark.thorough
def test_a_function_of_ones_own_merges_the_directions() -> None:
    twins, x = Twins(both_ways(merge_fn=jnp.maximum)), normal(2, 4, 3)
    assert_same_results(twins, x)
    zeros = (jnp.zeros((2, 4)), jnp.zeros((2, 4)))
    ours = twins.ours
    forward = ours.forward_rnn(x, initial_carry=zeros[0])
    backward = ours.backward_rnn(x[:, ::-1], initial_carry=zeros[1])[:, ::-1]
    merged = ours(x, initial_carry=zeros)
    np.testing.assert_allclose(merged, jnp.maximum(forward, backward), rtol=1e-5, atol=1e-6)


def test_one_layer_for_both_directions_is_logged(caplog: Any) -> None:
    rnn = make()(nnx, nnx.Rngs(0))
    with caplog.at_level(logging.WARNING):
        nnx.Bidirectional(rnn, rnn)
    assert "one object" in caplog.text


@pytest.mark.parametrize("rngs", [5, None, "carry"])
def test_what_is_no_stream_is_refused(rngs: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        make(rngs=rngs)(flax.nnx, flax.nnx.Rngs(0))
    with pytest.raises(errors.RngsTypeError, match="RNN: argument `rngs` is"):
        make(rngs=rngs)(nnx, nnx.Rngs(0))
