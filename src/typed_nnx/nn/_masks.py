"""Masks of attention: which key each query may look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import jax.numpy as jnp

from typed_nnx.errors import LayerInputError
from typed_nnx.nn._shapes import described
from typed_nnx.nn._typing import Array, Dtype


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
    if not _fit(shapes):
        raise LayerInputError(
            "combine_masks",
            "masks",
            ", ".join(map(described, present)),
            "masks of the same rank, with sizes that are equal or 1",
            "mask[None] for each axis that one mask lacks",
        )
    combined, *others = present
    for mask in others:
        combined = jnp.logical_and(combined, mask)
    return combined.astype(dtype)


def _fit(shapes: list[tuple[int, ...]]) -> bool:
    return len({len(shape) for shape in shapes}) == 1 and all(
        len(set(sizes) - {1}) <= 1 for sizes in zip(*shapes, strict=True)
    )
