"""Dropout against flax, bit for bit, and the ways to say when it drops and with which keys."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.core.libraries import both
from tests.nn.twins import Twins, assert_refused_alike, kind_of_error
from typed_nnx import errors

X = jnp.linspace(1.0, 2.0, 24).reshape(4, 6)


@pytest.mark.thorough
@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]),
    st.lists(st.sampled_from([0, 1, -1]), max_size=2),
    st.sampled_from([jnp.float32, jnp.bfloat16, jnp.float16]),
    st.sampled_from(["dropout", "params", "other"]),
)
def test_dropout_is_the_twin_of_flax(rate: float, dims: Any, dtype: Any, name: str) -> None:
    twins = Twins(
        lambda lib, rngs: lib.Dropout(rate, broadcast_dims=dims, rng_collection=name, rngs=rngs)
    )
    twins.assert_made_alike()
    for _ in range(2):
        twins.assert_same_call(X.astype(dtype))


@both
def test_elements_along_a_broadcast_axis_share_their_fate(lib: Any) -> None:
    y = lib.Dropout(0.5, broadcast_dims=(0,), rngs=lib.Rngs(0))(jnp.ones((8, 64)))
    assert (y == y[:1]).all()
    assert 0 < (y[0] == 0).sum() < 64


@both
def test_train_eval_and_the_call_say_whether_to_drop_the_call_last(lib: Any) -> None:
    layer = lib.Dropout(0.5, rngs=lib.Rngs(0))
    layer.eval()
    assert (layer(X) == X).all()
    assert (layer(X, deterministic=False) != X).any()
    layer.train()
    assert (layer(X) != X).any()
    assert (layer(X, deterministic=True) == X).all()
    assert (lib.view(layer, deterministic=True)(X) == X).all()
    assert layer.deterministic is False


@both
def test_streams_given_to_a_call_are_drawn_from_and_not_the_layers_own(lib: Any) -> None:
    layer, given_rngs = lib.Dropout(0.5, rngs=lib.Rngs(0)), lib.Rngs(dropout=3)
    first = layer(X, rngs=given_rngs)
    assert (layer.rngs.count[...], given_rngs.dropout.count[...]) == (0, 1)
    stream = lib.Rngs(dropout=3).dropout
    assert (layer(X, rngs=stream) == first).all()
    key = jax.random.fold_in(jax.random.key(3), 0)
    assert (layer(X, rngs=key) == first).all()
    assert (lib.Dropout(0.5)(X, rngs=key) == first).all()


@pytest.mark.thorough
@both
def test_an_ensemble_drops_by_itself_in_each_member(lib: Any) -> None:
    @lib.split_rngs(splits=3)
    @lib.vmap
    def make(rngs: Any) -> Any:
        return lib.Dropout(0.5, rngs=rngs)

    y = lib.vmap(lambda layer, x: layer(x), in_axes=(0, None))(make(lib.Rngs(0)), X)
    assert len({row.tobytes() for row in jax.device_get(y)}) == 3


@pytest.mark.parametrize(
    ("make", "options"),
    [
        pytest.param(lambda lib, rngs: lib.Dropout(0.5), {}, id="no streams"),
        pytest.param(
            lambda lib, rngs: lib.Dropout(0.5, deterministic=None, rngs=rngs), {}, id="no mode"
        ),
        pytest.param(lambda lib, rngs: lib.Dropout(0.5, rngs=3), {}, id="streams that are none"),
        pytest.param(lambda lib, rngs: lib.Dropout(0.5), {"rngs": 3}, id="a key that is none"),
        pytest.param(
            lambda lib, rngs: lib.Dropout(0.5, rngs=lib.Rngs(params=0)), {}, id="no such stream"
        ),
    ],
)
def test_what_flax_refuses_is_refused(make: Any, options: Any) -> None:
    assert_refused_alike(make, X, **options)


def test_integers_are_refused_as_in_flax_with_a_fix() -> None:
    assert kind_of_error(lambda: nnx.Dropout(0.5, rngs=nnx.Rngs(0))(jnp.ones(3, int))) != "none"
    with pytest.raises(errors.LayerInputError, match=r"`inputs` is int32\[3\]"):
        nnx.Dropout(0.5, rngs=nnx.Rngs(0))(jnp.ones(3, jnp.int32))


@pytest.mark.parametrize("rate", [-0.1, 1.5])
def test_a_rate_that_is_no_share_is_refused(rate: float) -> None:
    with pytest.raises(errors.LayerArgumentError, match="between 0 and 1"):
        nnx.Dropout(rate)
