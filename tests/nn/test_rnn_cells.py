"""Recurrent cells against flax: parameters, carries, one step, errors."""

from __future__ import annotations

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
from tests.nn.twins import DTYPES, LIBRARIES, Twins, assert_refused_alike, assert_same_bits, normal

# flax warns of initializers in the constructor, which it takes all the same.
pytestmark = pytest.mark.filterwarnings("ignore:carry_init is provided:UserWarning")

quick = settings(max_examples=6, deadline=None)
CELLS = ("LSTMCell", "OptimizedLSTMCell", "GRUCell", "SimpleCell")
cells = pytest.mark.parametrize("cell", CELLS)


def a_carry(cell: str, *shape: int) -> Any:
    carry = normal(*shape, seed=8)
    return (carry, normal(*shape, seed=9)) if "LSTM" in cell else carry


@cells
@quick
@given(st.data())
def test_a_cell_is_the_twin_of_flax(cell: str, data: Any) -> None:
    options = {
        "dtype": data.draw(st.sampled_from(DTYPES[1:])),
        "kernel_metadata": data.draw(st.sampled_from([{}, {"note": "k"}])),
        "recurrent_kernel_metadata": {"note": "r"},
        "bias_metadata": {"note": "b"},
    }
    if cell == "SimpleCell":
        options["residual"] = data.draw(st.booleans())
    elif data.draw(st.booleans()):
        options["gate_fn"] = jax.nn.hard_sigmoid
    twins = Twins(lambda lib, rngs: getattr(lib, cell)(3, 4, rngs=rngs, **options))
    twins.assert_made_alike()
    batch = data.draw(st.sampled_from([(), (2,), (2, 3)]))
    carry, x = a_carry(cell, *batch, 4), normal(*batch, 3)
    twins.assert_same_program(carry, x)
    assert twins.ours.num_feature_axes == twins.theirs.num_feature_axes == 1


@cells
def test_carries_draw_the_keys_that_flax_draws(cell: str) -> None:
    for given_init in (None, jax.nn.initializers.normal(2.0)):
        twins = Twins(
            lambda lib, rngs: getattr(lib, cell)(
                3, 4, carry_init=jax.nn.initializers.normal(1.0), rngs=rngs
            )
        )
        streams = [lib.Rngs(3, carry=4) for lib in LIBRARIES]
        for pick in (lambda r: r, lambda r: r.carry, lambda r: r.default):
            ours, theirs = (
                layer.initialize_carry((2, 3), pick(r), given_init)
                for layer, r in zip(twins.both, streams, strict=True)
            )
            jax.tree.map(assert_same_bits, ours, theirs)
        for name in ("carry", "default"):
            assert streams[0][name].count[...] == streams[1][name].count[...]


@cells
def test_a_cell_that_keeps_its_stream_warns_and_draws_from_it_as_in_flax(cell: str) -> None:
    with pytest.warns(UserWarning, match="keep_rngs"):
        twins = Twins(lambda lib, rngs: getattr(lib, cell)(3, 4, keep_rngs=True, rngs=rngs))
    twins.assert_made_alike()
    ours, theirs = (layer.initialize_carry((2, 3)) for layer in twins.both)
    jax.tree.map(assert_same_bits, ours, theirs)
    twins.assert_states_equal()


@pytest.mark.parametrize("shape", [(4, 4), (3, 7), (7, 3)], ids=str)
def test_modified_orthogonal_is_that_of_flax(shape: Any) -> None:
    key = jax.random.key(0)
    for dtype in DTYPES[1:]:
        ours = typed_nnx.nn.recurrent.modified_orthogonal(key, shape, dtype)
        assert_same_bits(ours, flax.nnx.nn.recurrent.modified_orthogonal(key, shape, dtype))


def test_the_two_lstm_cells_agree_when_their_kernels_do() -> None:
    plain = nnx.LSTMCell(3, 4, rngs=nnx.Rngs(0))
    fast = nnx.OptimizedLSTMCell(3, 4, rngs=nnx.Rngs(1))
    fast.dense_i.kernel[...] = jnp.concatenate(
        [layer.kernel[...] for layer in (plain.ii, plain.if_, plain.ig, plain.io)], -1
    )
    fast.dense_h.kernel[...] = jnp.concatenate(
        [layer.kernel[...] for layer in (plain.hi, plain.hf, plain.hg, plain.ho)], -1
    )
    carry, x = a_carry("LSTMCell", 2, 4), normal(2, 3)
    np.testing.assert_allclose(plain(carry, x)[1], fast(carry, x)[1], rtol=1e-5, atol=1e-6)


@cells
@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda cell, carry: cell(carry, jnp.ones((2, 5))), id="inputs"),
        pytest.param(
            lambda cell, carry: cell(jax.tree.map(lambda x: x[:, :2], carry), jnp.ones((2, 3))),
            id="carry",
        ),
        pytest.param(lambda cell, carry: cell.initialize_carry((2, 3)), id="no stream"),
        pytest.param(lambda cell, carry: cell.initialize_carry((2, 3), 5), id="no streams"),
    ],
)
def test_what_a_cell_of_flax_refuses_is_refused(cell: str, act: Any) -> None:
    assert_refused_alike(
        lambda lib, rngs: lambda: act(getattr(lib, cell)(3, 4, rngs=rngs), a_carry(cell, 2, 4))
    )


def test_the_base_has_no_step_of_its_own() -> None:
    for lib in LIBRARIES:
        base = lib.RNNCellBase()
        with pytest.raises(NotImplementedError):
            base(None, None)
        with pytest.raises(NotImplementedError):
            base.initialize_carry((2, 3))
        with pytest.raises(NotImplementedError):
            _ = base.num_feature_axes
