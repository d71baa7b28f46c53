"""What an object graph holds, in a form that can be compared after a failed operation."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import typed_nnx as nnx


def snapshot(node: Any) -> list[Any]:
    """Return every node, attribute and leaf: identity, value, metadata and status of each."""
    found: list[Any] = []
    for path, value in nnx.iter_graph(node):
        found.append((path, type(value), id(value) if has_identity(value) else None))
        if isinstance(value, nnx.Variable):
            found.append((id(value.get_raw_value()), shown(value.get_raw_value())))
            found.append(value.get_metadata())
        elif isinstance(value, nnx.Pytree):
            found.append({name: shown(held) for name, held in vars(value).items()})
            found.append(dict(value._nnx_status))
        else:
            found.append(shown(value))
    return found


def has_identity(value: Any) -> bool:
    """Whether it matters that a value is the same object."""
    kinds = nnx.Variable | nnx.Pytree | jax.Array
    return isinstance(value, kinds) or type(value) in (list, dict)


def shown(value: Any) -> Any:
    """Return a value in a form that compares by content."""
    if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    if isinstance(value, jax.Array | np.ndarray):
        return np.asarray(value).tolist()
    if isinstance(value, nnx.Variable | nnx.Pytree):
        return id(value)
    if isinstance(value, list | tuple):
        return [shown(item) for item in value]
    if isinstance(value, dict):
        return {key: shown(item) for key, item in value.items()}
    return value
