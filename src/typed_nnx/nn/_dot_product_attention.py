"""Scaled dot-product attention as functions of queries, keys and values."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Any, overload

import jax
import jax.numpy as jnp
from jax import random

from typed_nnx._core.modules import Module
from typed_nnx._core.variable_types import Intermediate
from typed_nnx.errors import LayerArgumentError, LayerInputError
from typed_nnx.nn._layers import Array, Dtype, PrecisionLike, PromoteDtypeFn, broadcasts, described
from typed_nnx.nn.dtypes import promote_dtype


def check_query_key(function: str, query: Array, key: Array) -> None:
    """Refuse a query and a key that do not fit.

    They are ``[*batch, queries, heads, features]`` and ``[*batch, keys, key_heads, features]``, where
    `heads` is a multiple of `key_heads`.
    """
    if query.ndim < 3:
        raise LayerInputError(
            function, "query", described(query), "shape (..., queries, heads, features)", _SPLIT
        )
    wanted = (*query.shape[:-3], *key.shape[-3:-2], *key.shape[-2:-1], query.shape[-1])
    if key.ndim != query.ndim or key.shape != wanted:
        pattern = ", ".join(map(str, (*query.shape[:-3], "keys", "heads", query.shape[-1])))
        raise LayerInputError(
            function,
            "key",
            described(key),
            f"shape ({pattern}), with the same rank and batch dims as query "
            f"{described(query)}; depths must match",
            "give a key with the batch axes and features of the query",
        )
    heads, shared = query.shape[-2], key.shape[-2]
    if shared == 0 or heads % shared:
        raise LayerInputError(
            function,
            "key",
            described(key),
            f"heads of which the {heads} of query {described(query)} must be a multiple",
            "give as many key heads as query heads, or fewer for grouped-query attention",
        )


def check_value(function: str, key: Array, value: Array) -> None:
    """Refuse a value that does not fit the key.

    They are ``[*batch, keys, key_heads, features]``, and the value may have other features.
    """
    if value.ndim != key.ndim or value.shape[:-1] != key.shape[:-1]:
        raise LayerInputError(
            function,
            "value",
            described(value),
            f"the batch, keys and heads of the key {described(key)}: their lengths must match",
            "compute keys and values from the same inputs, with the same heads",
        )


def check_scores(function: str, argument: str, array: Array | None, shape: tuple[int, ...]) -> None:
    """Refuse a mask or bias that does not broadcast to the scores.

    The `shape` of the scores is ``(*batch, heads, queries, keys)``.
    """
    if array is None or broadcasts(jnp.shape(array), shape):
        return
    flat = (math.prod(shape[:-3]), *shape[-3:])
    if jnp.ndim(array) == 4 and broadcasts(jnp.shape(array), flat):
        return
    raise LayerInputError(
        function,
        argument,
        described(array),
        f"a shape that broadcasts to {shape}: (*batch, heads, queries, keys)",
        f"{argument}[:, None] if the axis of heads is missing",
    )


def with_flat_batch(array: Array, shape: tuple[int, ...]) -> Array:
    """Return a mask or bias with its batch axes made one, as the query's are.

    It broadcasts to `shape`, ``(*batch, heads, queries, keys)`` with at least two batch axes; or it is of
    rank 4 with the batch axes made one already.
    """
    batch = shape[:-3]
    if array.ndim < 4 or (array.ndim == 4 and array.shape[0] in (1, math.prod(batch))):
        return array
    own = array.shape[:-3]
    if own != batch and math.prod(own) != 1:
        array = jnp.broadcast_to(array, (*batch, *array.shape[-3:]))
    return array.reshape((-1, *array.shape[-3:]))


def with_rank(array: Array, ndim: int) -> Array:
    """Return an array with axes of size 1 put first, so that no rank promotes silently."""
    missing = ndim - jnp.ndim(array)
    return array.reshape((1,) * missing + array.shape) if missing > 0 else array


_SPLIT = "query.reshape(*query.shape[:-1], heads, -1)"


def make_attention_mask(
    query_input: Array,
    key_input: Array,
    pairwise_fn: Callable[..., Any] = jnp.multiply,
    extra_batch_dims: int = 0,
    dtype: Dtype = jnp.float32,
) -> Array:
    """Return a mask that compares each element of one sequence with each of another.

    With the default it is nonzero where both are: where neither token is padding.

    >>> make_attention_mask(jnp.array([1, 1, 0]), jnp.array([1, 0]), dtype=jnp.int32).tolist()
    [[[1, 0], [1, 0], [0, 0]]]

    Args:
        query_input: Any dtype, [*batch, queries].
        key_input: Any dtype, [*batch, keys].
        pairwise_fn: Takes [*batch, queries, 1] and [*batch, 1, keys]; returns the mask of a head.
        extra_batch_dims: How many axes of size 1 to put first.
        dtype: The dtype of the mask.

    Returns:
        ``[*ones, *batch, 1, queries, keys]``, the 1 for the heads.
    """
    mask = pairwise_fn(jnp.expand_dims(query_input, axis=-1), jnp.expand_dims(key_input, axis=-2))
    mask = jnp.expand_dims(mask, axis=-3)
    mask = jnp.expand_dims(mask, axis=tuple(range(extra_batch_dims)))
    # What a function of the user's returns is untyped: the name gives the type.
    typed: Array = mask.astype(dtype)
    return typed


def make_causal_mask(x: Array, extra_batch_dims: int = 0, dtype: Dtype = jnp.float32) -> Array:
    """Return the mask that lets each token look at itself and at those before it.

    >>> make_causal_mask(jnp.zeros((3,)), dtype=jnp.int32).tolist()
    [[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]

    Args:
        x: Any dtype, [*batch, tokens]; only its shape counts.
        extra_batch_dims: How many axes of size 1 to put first.
        dtype: The dtype of the mask.

    Returns:
        ``[*ones, *batch, 1, tokens, tokens]``, the 1 for the heads.

    Raises:
        LayerInputError: `x` is a scalar.
    """
    shape = jnp.shape(x)
    if not shape:
        raise LayerInputError(
            "make_causal_mask", "x", described(x), "an axis for the tokens", "x[None]"
        )
    positions = jnp.broadcast_to(jnp.arange(shape[-1], dtype=jnp.int32), shape)
    return make_attention_mask(
        positions, positions, jnp.greater_equal, extra_batch_dims=extra_batch_dims, dtype=dtype
    )


@overload
def combine_masks(first: Array, /, *masks: Array | None, dtype: Dtype = ...) -> Array: ...
@overload
def combine_masks(*masks: Array | None, dtype: Dtype = ...) -> Array | None: ...
def combine_masks(*masks: Array | None, dtype: Dtype = jnp.float32) -> Array | None:
    """Return the mask that is nonzero where all of the given ones are, or None if there is none.

    >>> combine_masks(jnp.array([1, 1, 0]), None, jnp.array([0, 1, 1]), dtype=bool).tolist()
    [False, True, False]

    Args:
        *masks: Any dtypes, of shapes that broadcast against each other and of the same rank; None
            among them does not count.
        dtype: The dtype of the result.

    Raises:
        LayerInputError: Two masks differ in rank, or their shapes do not broadcast.
    """
    present = [mask for mask in masks if mask is not None]
    if not present:
        return None
    shapes = [jnp.shape(mask) for mask in present]
    ranks = {len(shape) for shape in shapes}
    if len(ranks) > 1 or any(len({*sizes} - {1}) > 1 for sizes in zip(*shapes, strict=True)):
        raise LayerInputError(
            "combine_masks",
            "masks",
            ", ".join(map(described, present)),
            "masks of the same rank, with sizes that are equal or 1",
            "mask[None] for each missing axis",
        )
    combined, *others = present
    for mask in others:
        combined = jnp.logical_and(combined, mask)
    return combined.astype(dtype)


def dot_product_attention_weights(
    query: Array,
    key: Array,
    bias: Array | None = None,
    mask: Array | None = None,
    broadcast_dropout: bool = True,
    dropout_rng: Array | None = None,
    dropout_rate: float = 0.0,
    deterministic: bool = False,
    dtype: Dtype | None = None,
    precision: PrecisionLike = None,
    module: Module | None = None,
    promote_dtype: PromoteDtypeFn = promote_dtype,
    is_causal: bool = False,
) -> Array:
    """Return how much each query takes of each key: ``softmax(query @ key / sqrt(features))``.

    Args:
        query: Floats [*batch, queries, heads, features].
        key: Floats [*batch, keys, key_heads, features]; `heads` must be a multiple of
            `key_heads`, each of which serves a group of neighbouring query heads.
        bias: Added to the scores; broadcasts to [*batch, heads, queries, keys].
        mask: Scores where it is zero do not count; broadcasts to [*batch, heads, queries, keys].
        broadcast_dropout: Whether all batches and heads drop the same weights.
        dropout_rng: The key that says which weights to drop.
        dropout_rate: The share of weights to drop.
        deterministic: Whether to drop none.
        dtype: The dtype to compute in; None means what query and key promote to.
        precision: Precision of the product, as of `jax.lax.dot_general`.
        module: Where to sow the weights, as the `Intermediate` ``attention_weights``.
        promote_dtype: What brings query and key to one dtype.
        is_causal: Whether a query takes nothing of the keys that come after it.

    Returns:
        ``[*batch, heads, queries, keys]``.

    Raises:
        LayerInputError: Query, key, mask or bias do not fit together.
        LayerArgumentError: There are weights to drop and no `dropout_rng`, or it is to drop all.

    Source: Vaswani et al., "Attention Is All You Need", 2017; grouped queries: Ainslie et al.,
    "GQA", 2023.
    """
    query, key = promote_dtype((query, key), dtype=dtype)
    dtype = query.dtype
    name = "dot_product_attention_weights"
    check_query_key(name, query, key)
    shape = _shape_of_scores(query, key)
    check_scores(name, "bias", bias, shape)
    check_scores(name, "mask", mask, shape)
    scores = _scores(query, key, precision)
    if bias is not None:
        scores = scores + with_rank(bias, scores.ndim)
    mask = _with_causal(mask, is_causal, shape, dtype)
    if mask is not None:
        lowest = jnp.finfo(dtype).min  # type: ignore[no-untyped-call]  # jax does not type it
        scores = jnp.where(with_rank(mask, scores.ndim), scores, lowest)
    weights = jax.nn.softmax(scores).astype(dtype)
    if module is not None:
        module.sow(Intermediate, "attention_weights", weights)
    if deterministic or dropout_rate <= 0.0:
        return weights
    return weights * _dropout(name, weights, dropout_rng, dropout_rate, broadcast_dropout)


def dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None = None,
    mask: Array | None = None,
    broadcast_dropout: bool = True,
    dropout_rng: Array | None = None,
    dropout_rate: float = 0.0,
    deterministic: bool = False,
    dtype: Dtype | None = None,
    precision: PrecisionLike = None,
    module: Module | None = None,
    promote_dtype: PromoteDtypeFn = promote_dtype,
    is_causal: bool = False,
) -> Array:
    """Return for each query the mean of the values, weighted by how its keys match.

    `jax.nn.dot_product_attention` computes it, in one call that backends may fuse, unless the
    weights themselves are needed: where `dropout_rate` is not 0 or `module` records them, or where
    values have another number of features than keys, which it does not take.

    >>> query = jnp.ones((1, 5, 4, 2))
    >>> dot_product_attention(query, query, query, is_causal=True).shape
    (1, 5, 4, 2)

    The values are floats [*batch, keys, key_heads, value_features]; the other arguments, and the errors,
    are those of `dot_product_attention_weights`.

    Returns:
        ``[*batch, queries, heads, value_features]``.

    Source: Vaswani et al., "Attention Is All You Need", 2017; grouped queries: Ainslie et al.,
    "GQA", 2023.
    """
    query, key, value = promote_dtype((query, key, value), dtype=dtype)
    name = "dot_product_attention"
    check_query_key(name, query, key)
    check_value(name, key, value)
    if dropout_rate == 0.0 and module is None and value.shape == key.shape:
        shape = _shape_of_scores(query, key)
        check_scores(name, "bias", bias, shape)
        check_scores(name, "mask", mask, shape)
        with _precision_of_products(precision):
            return _fused(query, key, value, bias, mask, is_causal)
    weights = dot_product_attention_weights(
        query,
        key,
        bias,
        mask,
        broadcast_dropout,
        dropout_rng,
        dropout_rate,
        deterministic,
        query.dtype,
        precision,
        module,
        promote_dtype,
        is_causal,
    )
    return _weighted_mean(weights, value, precision)


def _fused(
    query: Array, key: Array, value: Array, bias: Array | None, mask: Array | None, is_causal: bool
) -> Array:
    """Call jax's function, which knows one batch axis."""
    result = query.shape
    if query.ndim > 4:
        shape = _shape_of_scores(query, key)
        query, key, value = (x.reshape((-1, *x.shape[-3:])) for x in (query, key, value))
        bias = None if bias is None else with_flat_batch(bias, shape)
        mask = None if mask is None else with_flat_batch(mask, shape)
    mask = None if mask is None else mask.astype(jnp.bool_)
    attended = jax.nn.dot_product_attention(
        query, key, value, bias=bias, mask=mask, is_causal=is_causal
    )
    return attended.reshape(result) if len(result) > 4 else attended


def _scores(query: Array, key: Array, precision: PrecisionLike) -> Array:
    heads, features = query.shape[-2:]
    shared = key.shape[-2]
    grouped = heads != shared
    if grouped:
        query = query.reshape((*query.shape[:-2], shared, heads // shared, features))
        key = jnp.expand_dims(key, -2)
    query = query / jnp.sqrt(features).astype(query.dtype)
    if not grouped:
        return jnp.einsum("...qhd,...khd->...hqk", query, key, precision=precision)
    scores = jnp.einsum("...qhgd,...khxd->...hgqk", query, key, precision=precision)
    return scores.reshape((*scores.shape[:-4], heads, *scores.shape[-2:]))


def _weighted_mean(weights: Array, value: Array, precision: PrecisionLike) -> Array:
    heads, shared = weights.shape[-3], value.shape[-2]
    if heads == shared:
        return jnp.einsum("...hqk,...khd->...qhd", weights, value, precision=precision)
    groups = weights.reshape((*weights.shape[:-3], shared, heads // shared, *weights.shape[-2:]))
    mean = jnp.einsum(
        "...hgqk,...khxd->...qhgd", groups, jnp.expand_dims(value, -2), precision=precision
    )
    return mean.reshape((*mean.shape[:-3], heads, mean.shape[-1]))


def _with_causal(
    mask: Array | None, is_causal: bool, shape: tuple[int, ...], dtype: Dtype
) -> Array | None:
    """Return the mask, with the keys after each query masked if `is_causal`."""
    if not is_causal:
        return None if mask is None else mask.astype(dtype)
    mask = None if mask is None else with_rank(mask, 2)
    causal = jnp.tril(jnp.ones(shape[-2:], dtype=dtype))
    # Of the rank and the sizes of the mask, which has 1 where it is the same for all.
    of_mask = shape if mask is None else (*jnp.shape(mask)[:-2], *shape[-2:])
    return combine_masks(mask, jnp.broadcast_to(causal, of_mask), dtype=dtype)


def _dropout(
    function: str, weights: Array, rng: Array | None, rate: float, broadcast: bool
) -> Array:
    """Return what to multiply the weights with: 0 or the inverse of the share that is kept."""
    if rng is None:
        raise LayerArgumentError(
            function,
            "dropout_rng",
            "None",
            f"a PRNG key, since dropout_rate is {rate}",
            f"{function}(..., dropout_rng=rngs.dropout()), or deterministic=True",
        )
    check_rate(function, rate)
    keep = 1.0 - rate
    shape = (1,) * (weights.ndim - 2) + weights.shape[-2:] if broadcast else weights.shape
    kept = random.bernoulli(rng, keep, shape).astype(weights.dtype)
    return kept / jnp.asarray(keep, dtype=weights.dtype)


def check_rate(layer: str, rate: float) -> None:
    """Refuse a share of weights to drop that leaves none, or is no share."""
    if not 0.0 <= rate < 1.0:
        raise LayerArgumentError(
            layer,
            "dropout_rate",
            repr(rate),
            "the share of weights to drop, at least 0 and less than 1",
            "dropout_rate=0.1",
        )


def _shape_of_scores(query: Array, key: Array) -> tuple[int, ...]:
    *batch, queries, heads, _ = query.shape
    return (*batch, heads, queries, key.shape[-3])


def _precision_of_products(precision: PrecisionLike) -> contextlib.AbstractContextManager[object]:
    """Return the context that gives jax's function a precision, for which it has no argument."""
    if precision is None:
        return contextlib.nullcontext()
    both = precision if isinstance(precision, tuple) else (precision,)
    # The product takes one for both operands: the better of the two.
    names = [one.name.lower() if isinstance(one, jax.lax.Precision) else one for one in both]
    ranks = ("default", "high", "highest")
    best = max(names, key=lambda name: ranks.index(name) if name in ranks else math.inf)
    # jax does not type what it returns.
    context: contextlib.AbstractContextManager[object] = jax.default_matmul_precision(best)
    return context
