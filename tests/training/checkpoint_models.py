"""Models with leaves of every kind, and what two of them must have in common to be the same."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import typed_nnx as nnx


class Dense(nnx.Module):
    """A kernel and a bias."""

    def __init__(self, rngs: nnx.Rngs, rows: int = 2, columns: int = 3) -> None:
        self.kernel = nnx.Param(rngs.params.normal((rows, columns)))
        self.bias = nnx.Param(jnp.zeros(columns))


class Network(nnx.Module):
    """Two layers, a statistic and random streams."""

    def __init__(self, seed: int) -> None:
        self.rngs = nnx.Rngs(seed)
        self.layers = nnx.List([Dense(self.rngs), Dense(self.rngs, 3, 2)])
        self.mean = nnx.BatchStat(jnp.full(3, seed, jnp.bfloat16))


class Everything(nnx.Module):
    """One leaf of each kind, with values that depend on a seed."""

    def __init__(self, seed: int) -> None:
        key = jax.random.key(seed)
        self.network = Network(seed)
        self.keys = nnx.Variable(jax.random.split(jax.random.key(seed, impl="rbg"), (2, 3)))
        self.no_keys = nnx.Variable(jax.random.split(key, 2)[:0])
        self.legacy = nnx.Variable(jax.random.PRNGKey(seed))
        self.empty = nnx.Param(jnp.zeros((0, 3), jnp.bfloat16))
        self.odd = nnx.Param(jnp.array([np.nan, -0.0, np.inf, seed]))
        self.weak = nnx.Param(jnp.asarray(float(seed)))
        self.ref = nnx.Param(jnp.full(2, seed), ref=True)
        self.tree = nnx.Param({"a": jnp.full(2, seed), "b": [jnp.ones(1), (jnp.full(1, seed),)]})
        self.numpy = nnx.Variable(np.full((2, 2), seed + 1e-12))
        self.scalar = nnx.Variable(np.float32(seed))
        self.plain = nnx.Variable([seed, 0.1 * seed, f"é{seed}", bytes([seed]), 1j * seed, None])
        self.nothing = nnx.Variable(None)
        self.array = jnp.full(2, seed)
        self.host = np.full(2, seed)
        self.part = nnx.Dict(inner=nnx.data({"0": jnp.full(1, seed), "a.b": jnp.full(2, seed)}))


def bits(node: Any) -> dict[Any, Any]:
    """Map the path of each leaf to all that must come back: types, dtype, shape and bytes."""
    items = nnx.to_flat_state(node if isinstance(node, nnx.State) else nnx.state(node))
    return {path: [type(leaf).__name__, _bits_of(leaf)] for path, leaf in items}


def _bits_of(leaf: Any) -> Any:
    value = leaf.get_raw_value() if isinstance(leaf, nnx.Variable) else leaf
    leaves, structure = jax.tree.flatten(value)
    return str(structure), [_bits_of_array(part) for part in leaves]


def _bits_of_array(value: Any) -> Any:
    kind = type(value).__name__
    if isinstance(value, jax.Ref):
        value = value[...]
    if not hasattr(value, "dtype"):
        return kind, repr(value)
    data = jax.random.key_data(value) if "key<" in str(value.dtype) else value
    weak = getattr(value, "weak_type", False)
    return kind, str(value.dtype), value.shape, weak, np.asarray(data).tobytes()
