"""Masks of attention against flax, and against what they say."""

from __future__ import annotations

from typing import Any

import flax.nnx
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.nn.twins import assert_same_bits
from typed_nnx import errors

quick = settings(max_examples=20, deadline=None)
dtypes = st.sampled_from([jnp.float32, jnp.bool_, jnp.int32, jnp.bfloat16])
shapes = st.sampled_from([(), (2,), (2, 3)])


@pytest.mark.thorough
@quick
@given(shapes, st.integers(1, 4), st.integers(1, 4), st.integers(0, 2), dtypes, st.booleans())
def test_attention_masks_are_those_of_flax(
    batch: Any, queries: int, keys: int, extra: int, dtype: Any, compare: bool
) -> None:
    rng = np.random.default_rng(0)
    a = jnp.asarray(rng.integers(0, 3, (*batch, queries)))
    b = jnp.asarray(rng.integers(0, 3, (*batch, keys)))
    options: dict[str, Any] = {"extra_batch_dims": extra, "dtype": dtype}
    if compare:
        options["pairwise_fn"] = jnp.greater_equal
    found = nnx.make_attention_mask(a, b, **options)
    assert found.shape == (*(1,) * extra, *batch, 1, queries, keys)
    assert_same_bits(found, flax.nnx.make_attention_mask(a, b, **options))


@pytest.mark.thorough
@quick
@given(shapes, st.integers(1, 4), st.integers(0, 2), dtypes)
def test_causal_masks_are_those_of_flax(batch: Any, tokens: int, extra: int, dtype: Any) -> None:
    x = jnp.zeros((*batch, tokens))
    found = nnx.make_causal_mask(x, extra_batch_dims=extra, dtype=dtype)
    assert_same_bits(found, flax.nnx.make_causal_mask(x, extra_batch_dims=extra, dtype=dtype))
    assert (np.asarray(found, bool) == np.tril(np.ones((tokens, tokens), bool))).all()


@quick
@given(st.lists(st.none() | st.tuples(dtypes, st.integers(0, 5)), max_size=4), dtypes)
def test_combined_masks_are_those_of_flax(kinds: Any, dtype: Any) -> None:
    masks = [
        None
        if kind is None
        else jnp.asarray(np.random.default_rng(kind[1]).integers(0, 2, (2, 3)), kind[0])
        for kind in kinds
    ]
    found = nnx.combine_masks(*masks, dtype=dtype)
    expected = flax.nnx.combine_masks(*masks, dtype=dtype)
    if expected is None:
        assert found is None
        return
    assert found is not None
    assert_same_bits(found, expected)
    present = [np.asarray(mask, bool) for mask in masks if mask is not None]
    assert (np.asarray(found, bool) == np.logical_and.reduce(present)).all()


def test_masks_broadcast_when_combined() -> None:
    rows, columns = jnp.array([[1], [0]]), jnp.array([[1, 0, 1]])
    found = nnx.combine_masks(rows, columns, dtype=jnp.int32)
    assert found is not None
    assert found.tolist() == [[1, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize("other", [jnp.ones((3,)), jnp.ones((2, 4))], ids=["rank", "size"])
def test_masks_that_do_not_fit_are_refused_by_both(other: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        flax.nnx.combine_masks(jnp.ones((2, 3)), other)
    with pytest.raises(errors.LayerInputError, match=r"`masks` is float32\[2,3\], float32"):
        nnx.combine_masks(jnp.ones((2, 3)), other)
