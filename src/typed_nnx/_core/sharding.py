"""Placing the value of a new Variable by its sharding metadata."""

from __future__ import annotations

from typing import Any, TypeVar

import jax
import jax.core
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from typed_nnx._core.metadata import Metadata
from typed_nnx.errors import MeshRequiredError

A = TypeVar("A")

# jax gives these no types.
_partition_spec: Any = PartitionSpec
_reshard: Any = jax.sharding.reshard
_constrain: Any = jax.lax.with_sharding_constraint


def place_value(value: A, meta: Metadata) -> A:
    """Return `value` with its arrays laid out over the mesh as ``out_sharding`` in `meta` says.

    Without ``out_sharding`` or with ``eager_sharding=False`` the value comes back as it is.

    Raises:
        MeshRequiredError: There is neither a mesh in the metadata nor one in force.
    """
    names: Any = meta.get("out_sharding")
    arrays = [leaf for leaf in jax.tree.leaves(value) if isinstance(leaf, jax.Array | np.ndarray)]
    if names is None or not meta.get("eager_sharding") or not arrays:
        return value
    traced = any(isinstance(leaf, jax.core.Tracer) for leaf in arrays)
    sharding = _sharding(names, meta, traced)
    placed: A = jax.tree.map(lambda leaf: _place(leaf, sharding), value)
    return placed


def _sharding(names: Any, meta: Metadata, traced: bool) -> NamedSharding:
    if isinstance(names, NamedSharding):
        return names
    spec = names if isinstance(names, PartitionSpec) else _partition_spec(*_renamed(names, meta))
    mesh: Any = meta.get("mesh")
    if mesh is None:
        # Under a trace only the abstract mesh is known.
        in_force = jax.sharding.get_abstract_mesh()
        mesh = in_force if traced or in_force.empty else jax.sharding.get_mesh()
    if mesh.empty:
        raise MeshRequiredError(spec)
    return NamedSharding(mesh, spec)


def _renamed(names: Any, meta: Metadata) -> tuple[Any, ...]:
    rules: dict[Any, Any] = dict(meta.get("sharding_rules") or ())
    return tuple([rules.get(name, name) for name in names])


def _place(leaf: Any, sharding: NamedSharding) -> Any:
    if not isinstance(leaf, jax.Array | np.ndarray):
        return leaf
    if not isinstance(leaf, jax.core.Tracer):
        return jax.device_put(leaf, sharding)
    if jax.sharding.AxisType.Explicit in sharding.mesh.axis_types:
        return _reshard(leaf, sharding)
    return _constrain(leaf, sharding)
