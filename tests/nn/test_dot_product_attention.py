"""dot_product_attention its weights and its masks: against flax, and against the formula."""

from __future__ import annotations

from typing import Any

import flax.nnx
import flax.nnx.nn.attention
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
import typed_nnx.nn.attention
from tests.nn.twins import assert_same_bits, normal

quick = settings(max_examples=12, deadline=None)


OURS, THEIRS = typed_nnx.nn.attention, flax.nnx.nn.attention


KEY = jax.random.key(5)


@st.composite
def problems(draw: Any) -> dict[str, Any]:
    batch = draw(st.sampled_from([(), (2,), (2, 3)]))
    queries, keys, features = 3, draw(st.sampled_from([1, 4])), 2
    shared, groups = draw(st.sampled_from([(1, 1), (2, 1), (2, 2)]))
    dtype = draw(st.sampled_from([jnp.float32, jnp.bfloat16, jnp.float16]))
    problem: dict[str, Any] = {
        "query": normal(*batch, queries, shared * groups, features, dtype=dtype),
        "key": normal(*batch, keys, shared, features, dtype=dtype, seed=8),
        "is_causal": draw(st.booleans()),
        "dtype": draw(st.sampled_from([None, jnp.float32])),
    }
    scores = (*batch, shared * groups, queries, keys)
    # Batch axes are all there or all 1: flax's fused call knows no other broadcasting.
    flat = (*(1,) * len(batch), *scores[len(batch) :])
    shapes = st.sampled_from([scores, flat, scores[-3:], scores[-2:], (*flat[:-3], 1, 1, keys)])
    if draw(st.booleans()):
        problem["bias"] = normal(*draw(shapes), dtype=dtype)
    if draw(st.booleans()):
        allowed = np.asarray(normal(*draw(shapes))) > -0.5
        kind = draw(st.sampled_from([jnp.bool_, jnp.float32]))
        problem["mask"] = jnp.asarray(allowed.astype(kind))
    return problem


@st.composite
def dropping(draw: Any) -> dict[str, Any]:
    return {
        "dropout_rng": KEY,
        "dropout_rate": draw(st.sampled_from([0.0, 0.3])),
        "broadcast_dropout": draw(st.booleans()),
        "deterministic": draw(st.booleans()),
    }


def program(function: Any, arrays: dict[str, Any], rest: dict[str, Any]) -> str:
    return str(jax.make_jaxpr(lambda arrays: function(**arrays, **rest))(arrays))


def assert_same(name: str, problem: dict[str, Any]) -> None:
    """Compare programs, and results where flax promotes the rank of a mask: here none is."""
    mask = problem.get("mask")
    if mask is not None and mask.shape[-2:] == (1, problem["key"].shape[-3]):
        # flax does not broadcast the causal mask over the queries of such a mask.
        problem = {**problem, "is_causal": False}
    arrays = {k: v for k, v in problem.items() if isinstance(v, jax.Array) and k != "dropout_rng"}
    rest = {k: v for k, v in problem.items() if k not in arrays}
    with jax.numpy_rank_promotion("allow"):
        ours, theirs = (program(getattr(lib, name), arrays, rest) for lib in (OURS, THEIRS))
        if len({x.ndim for x in arrays.values()}) == 1:
            assert ours == theirs
        else:
            assert_same_bits(getattr(OURS, name)(**problem), getattr(THEIRS, name)(**problem))


@pytest.mark.thorough
@quick
@given(problems(), dropping())
def test_weights_are_those_of_flax(problem: Any, options: Any) -> None:
    assert_same("dot_product_attention_weights", {**problem, **options})


@pytest.mark.thorough
@quick
@given(problems(), dropping())
def test_attention_is_that_of_flax(problem: Any, options: Any) -> None:
    value = normal(*problem["key"].shape, dtype=problem["key"].dtype, seed=9)
    assert_same("dot_product_attention", {"value": value, **problem, **options})


def by_formula(problem: dict[str, Any], value: Any) -> Any:
    """Compute attention in numpy, with the heads of keys repeated."""
    query, key, value = (
        np.asarray(x, np.float64) for x in (problem["query"], problem["key"], value)
    )
    groups = query.shape[-2] // key.shape[-2]
    key, value = (np.repeat(x, groups, axis=-2) for x in (key, value))
    scores = np.einsum("...qhd,...khd->...hqk", query, key) / np.sqrt(query.shape[-1])
    scores = scores + np.asarray(problem.get("bias", 0.0), np.float64)
    allowed = np.broadcast_to(np.asarray(problem.get("mask", True), bool), scores.shape)
    if problem["is_causal"]:
        allowed = allowed & np.tril(np.ones(scores.shape[-2:], bool))
    weights = np.where(allowed, np.exp(scores - scores.max(-1, keepdims=True)), 0.0)
    weights = weights / np.maximum(weights.sum(-1, keepdims=True), 1e-30)
    return np.einsum("...hqk,...khd->...qhd", weights, value), allowed.any(-1)


@pytest.mark.thorough
@quick
@given(problems(), st.booleans())
def test_attention_is_the_weighted_mean_of_the_formula(problem: Any, sown: bool) -> None:
    problem = {
        k: v.astype(jnp.float32) if k in ("query", "key", "bias") else v for k, v in problem.items()
    }
    value = normal(*problem["key"].shape, seed=9)
    expected, any_key = by_formula(problem, value)
    module = nnx.Module() if sown else None
    found = OURS.dot_product_attention(value=value, module=module, **problem)
    # A query that may look at no key has no defined result.
    defined = np.moveaxis(any_key, -2, -1)[..., None]
    np.testing.assert_allclose(
        np.where(defined, found, 0), np.where(defined, expected, 0), rtol=2e-5, atol=2e-6
    )


@pytest.mark.thorough
def test_values_may_have_other_features_than_keys() -> None:
    query, key, value = normal(2, 3, 4, 5), normal(2, 6, 2, 5, seed=8), normal(2, 6, 2, 7, seed=9)
    found = OURS.dot_product_attention(query, key, value)
    expected, _ = by_formula({"query": query, "key": key, "is_causal": False}, value)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("shape", [(2, 1, 1, 3, 3), (1, 2, 1, 3, 3), (2, 1, 3, 3)], ids=str)
@pytest.mark.parametrize("argument", ["mask", "bias"])
def test_masks_and_biases_broadcast_over_some_of_several_batch_axes(
    shape: Any, argument: str
) -> None:
    x = normal(2, 2, 3, 4, 5)
    array = normal(*shape)
    if argument == "mask":
        array = jnp.asarray((np.asarray(array) > 0) | np.eye(3, dtype=bool))
    problem: dict[str, Any] = {"query": x, "key": x, "is_causal": False, argument: array}
    expected, _ = by_formula(problem, x)
    np.testing.assert_allclose(
        OURS.dot_product_attention(value=x, **problem), expected, rtol=2e-5, atol=2e-6
    )


@pytest.mark.thorough
def test_dropped_weights_are_a_share_and_the_mean_stays() -> None:
    x = normal(4, 32, 2, 8)
    options: Any = {"dropout_rng": KEY, "dropout_rate": 0.25, "broadcast_dropout": False}
    whole = OURS.dot_product_attention_weights(x, x)
    dropped = OURS.dot_product_attention_weights(x, x, **options)
    kept = dropped != 0
    assert abs(float(kept.mean()) - 0.75) < 0.02
    np.testing.assert_allclose(dropped[kept], whole[kept] / 0.75, rtol=1e-5)
    shared = OURS.dot_product_attention_weights(x, x, **{**options, "broadcast_dropout": True})
    assert ((np.asarray(shared) != 0) == (np.asarray(shared)[0, 0] != 0)).all()


@pytest.mark.parametrize(
    "precision",
    ["highest", jax.lax.Precision.HIGHEST, ("default", "highest"), "BF16_BF16_F32_X3"],
    ids=str,
)
def test_the_fused_call_gets_the_precision_that_was_asked_for(precision: Any) -> None:
    x = normal(1, 2, 1, 2)
    text = str(
        jax.make_jaxpr(lambda x: OURS.dot_product_attention(x, x, x, precision=precision))(x)
    )
    wanted = "BF16_BF16_F32_X3" if "X3" in str(precision) else "HIGHEST"
    assert sum(wanted in line for line in text.splitlines()) == 2


# -- masks of attention against flax, and against what they say -------------------------------------


quick_masks = settings(max_examples=20, deadline=None)


dtypes = st.sampled_from([jnp.float32, jnp.bool_, jnp.int32, jnp.bfloat16])


shapes = st.sampled_from([(), (2,), (2, 3)])


@pytest.mark.thorough
@quick_masks
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
@quick_masks
@given(shapes, st.integers(1, 4), st.integers(0, 2), dtypes)
def test_causal_masks_are_those_of_flax(batch: Any, tokens: int, extra: int, dtype: Any) -> None:
    x = jnp.zeros((*batch, tokens))
    found = nnx.make_causal_mask(x, extra_batch_dims=extra, dtype=dtype)
    assert_same_bits(found, flax.nnx.make_causal_mask(x, extra_batch_dims=extra, dtype=dtype))
    assert (np.asarray(found, bool) == np.tril(np.ones((tokens, tokens), bool))).all()


@pytest.mark.thorough
@quick_masks
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
