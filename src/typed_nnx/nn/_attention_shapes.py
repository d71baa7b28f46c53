"""The shapes of queries, keys and values, and how masks and biases of attention align with them."""

from __future__ import annotations

import math

import jax.numpy as jnp

from typed_nnx.errors import LayerInputError
from typed_nnx.nn._shapes import described
from typed_nnx.nn._typing import Array


def check_query_key(function: str, query: Array, key: Array) -> None:
    """Refuse a query and a key that do not fit.

    Args:
        function: The name that errors give.
        query: ``[*batch, queries, heads, features]``.
        key: ``[*batch, keys, key_heads, features]``.

    Raises:
        LayerInputError: They have no axes of tokens, heads and features, or differ in rank, batch
            or features, or `heads` is no multiple of `key_heads`.
    """
    if query.ndim < 3:
        raise LayerInputError(
            function, "query", described(query), "shape (..., queries, heads, features)", _SPLIT
        )
    wanted = (*query.shape[:-3], *key.shape[-3:-2], *key.shape[-2:-1], query.shape[-1])
    if key.ndim != query.ndim or key.shape != wanted:
        raise LayerInputError(
            function,
            "key",
            described(key),
            f"shape {_pattern(query, 'keys')}, with the same rank and batch dims as query "
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

    Args:
        function: The name that errors give.
        key: ``[*batch, keys, key_heads, features]``.
        value: ``[*batch, keys, key_heads, value_features]``.

    Raises:
        LayerInputError: Batch, keys or heads differ.
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

    Args:
        function: The name that errors give.
        argument: The name of the array.
        array: The mask or bias.
        shape: ``(*batch, heads, queries, keys)``.

    Raises:
        LayerInputError: It does not broadcast.
    """
    if array is None or _broadcasts(jnp.shape(array), shape):
        return
    flat = (math.prod(shape[:-3]), *shape[-3:])
    if jnp.ndim(array) == 4 and _broadcasts(jnp.shape(array), flat):
        return
    raise LayerInputError(
        function,
        argument,
        described(array),
        f"a shape that broadcasts to {shape}: (*batch, heads, queries, keys)",
        f"{argument}[:, None] if it lacks the axis of the heads",
    )


def with_flat_batch(array: Array, shape: tuple[int, ...]) -> Array:
    """Return a mask or bias with its batch axes made one, as the query's are.

    Args:
        array: Broadcasts to `shape`; or of rank 4 with the batch axes made one already.
        shape: ``(*batch, heads, queries, keys)``, at least two batch axes.
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


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    aligned = to[len(to) - len(shape) :]
    return len(shape) <= len(to) and all(
        size in (1, wanted) for size, wanted in zip(shape, aligned, strict=True)
    )


def _pattern(query: Array, tokens: str) -> str:
    return f"({', '.join([*map(str, query.shape[:-3]), tokens, 'heads', str(query.shape[-1])])})"


_SPLIT = "query.reshape(*query.shape[:-1], heads, -1)"
