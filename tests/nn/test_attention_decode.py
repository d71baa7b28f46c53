"""Decoding with the cache of MultiHeadAttention: like flax, and like one causal pass."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.nn.twins import LIBRARIES, Twins, assert_same_bits, normal

quick = settings(max_examples=6, deadline=None)


def cached(layer: Any, shape: tuple[int, ...], dtype: Any = jnp.float32) -> Any:
    layer.init_cache(shape, dtype)
    return layer


@st.composite
def layers(draw: Any) -> dict[str, Any]:
    return {
        "num_heads": 4,
        "in_features": 4,
        "num_kv_heads": draw(st.sampled_from([1, 2, 4])),
        "normalize_qk": draw(st.booleans()),
        "use_bias": draw(st.booleans()),
        "decode": draw(st.booleans()),
    }


@pytest.mark.thorough
@quick
@given(layers(), st.sampled_from([(), (2, 3)]), st.booleans())
def test_token_by_token_the_results_and_the_cache_are_those_of_flax(
    options: Any, batch: Any, masked: bool
) -> None:
    shape = (*batch, 3, 4)
    twins = Twins(lambda lib, rngs: cached(lib.MultiHeadAttention(rngs=rngs, **options), shape))
    twins.assert_made_alike()
    x = normal(*shape)
    mask = jnp.broadcast_to(jnp.array([1.0, 0.0, 1.0]), (*batch, 1, 1, 3)) if masked else None
    for i in range(4):  # one more than the cache holds
        token = x[..., i % 3 : i % 3 + 1, :]
        ours, theirs = (layer(token, mask=mask, decode=True) for layer in twins.both)
        assert_same_bits(ours, theirs)
        twins.assert_states_equal()


@pytest.mark.thorough
@quick
@given(layers(), st.sampled_from([(), (2, 3)]), st.booleans())
def test_token_by_token_the_results_are_those_of_one_causal_pass(
    options: Any, batch: Any, is_causal: bool
) -> None:
    layer: Any = nnx.MultiHeadAttention(rngs=nnx.Rngs(0), **options)
    x = normal(*batch, 5, 4)
    layer.init_cache(x.shape)
    # A decoder passes the same `is_causal` whether it decodes or not.
    steps = [layer(x[..., i : i + 1, :], decode=True, is_causal=is_causal) for i in range(5)]
    whole = layer(x, decode=False, is_causal=True)
    np.testing.assert_allclose(jnp.concatenate(steps, -2), whole, rtol=2e-5, atol=2e-6)
    assert int(layer.cache_index[...]) == 5


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16], ids=["bf16", "f16"])
def test_a_cache_has_the_dtype_that_was_asked_for(dtype: Any) -> None:
    twins = Twins(
        lambda lib, rngs: cached(
            lib.MultiHeadAttention(2, 4, dtype=dtype, decode=True, rngs=rngs), (2, 3, 4), dtype
        )
    )
    ours, theirs = (layer(normal(2, 1, 4)) for layer in twins.both)
    assert_same_bits(ours, theirs)
    twins.assert_states_equal()
    assert twins.ours.cached_key.dtype == dtype


@pytest.mark.thorough
def test_decoding_is_the_same_jitted_scanned_and_eager() -> None:
    x = normal(2, 5, 4)

    def fresh() -> Any:
        layer = nnx.MultiHeadAttention(2, 4, decode=True, rngs=nnx.Rngs(0))
        return cached(layer, x.shape)

    def step(layer: Any, token: Any) -> Any:
        return layer(token[:, None])[:, 0]

    layer = fresh()
    expected = jnp.stack([step(layer, x[:, i]) for i in range(5)], 1)
    jitted, scanned = fresh(), fresh()
    by_jit = jnp.stack([nnx.jit(step)(jitted, x[:, i]) for i in range(5)], 1)
    axes = nnx.StateAxes({nnx.Cache: nnx.Carry, ...: None})
    by_scan = nnx.scan(step, in_axes=(axes, 1), out_axes=1)(scanned, x)
    for result, other in ((by_jit, jitted), (by_scan, scanned)):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(other.cached_key[...], layer.cached_key[...], rtol=1e-5)
        assert int(other.cache_index[...]) == 5


@pytest.mark.thorough
def test_a_cache_can_be_made_anew() -> None:
    layer: Any = cached(nnx.MultiHeadAttention(2, 4, decode=True, rngs=nnx.Rngs(0)), (2, 3, 4))
    first = layer(normal(2, 1, 4))
    layer.init_cache((2, 3, 4))
    assert int(layer.cache_index[...]) == 0
    assert_same_bits(layer(normal(2, 1, 4)), first)


@pytest.mark.thorough
def test_a_view_makes_a_cache_of_its_own() -> None:
    layer = nnx.MultiHeadAttention(4, 8, num_kv_heads=2, dtype=jnp.bfloat16, rngs=nnx.Rngs(0))
    view: Any = nnx.view(layer, decode=True, batch_size=(3, 2), max_length=7)
    assert view.cached_key.shape == view.cached_value.shape == (3, 2, 7, 2, 2)
    assert view.cached_key.dtype == jnp.bfloat16
    assert view(jnp.ones((3, 2, 1, 8))).shape == (3, 2, 1, 8)
    assert layer.cached_key is None
    assert layer.decode is None


def test_a_layer_without_a_cache_has_the_paths_of_flax_and_one_with_a_cache_too() -> None:
    for lib in LIBRARIES:
        layer = lib.MultiHeadAttention(2, 4, rngs=lib.Rngs(0))
        before = {path for path, _ in lib.to_flat_state(lib.state(layer))}
        layer.init_cache((3, 4))
        after = {path for path, _ in lib.to_flat_state(lib.state(layer, lib.Cache))}
        assert after == {("cached_key",), ("cached_value",), ("cache_index",)}
        assert not before & after
