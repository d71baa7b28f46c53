"""Placing the value of a new Variable by its sharding metadata."""

from __future__ import annotations

from typing import Any, TypeVar

import jax
import jax.core
from jax.sharding import NamedSharding, PartitionSpec

from typed_nnx._core.metadata import Metadata
from typed_nnx.errors import MeshRequiredError

A = TypeVar("A")


def place_value(value: A, meta: Metadata) -> A:
    """Return `value` laid out over the mesh as ``out_sharding`` in `meta` says.

    Without ``out_sharding``, with ``eager_sharding=False`` or for a value that is no array the
    value comes back as it is.

    Raises:
        MeshRequiredError: There is neither a mesh in the metadata nor one in force.
    """
    names: Any = meta.get("out_sharding")
    if names is None or not meta.get("eager_sharding") or not isinstance(value, jax.Array):
        return value
    if isinstance(names, NamedSharding):
        placed: A = _place(value, names)
        return placed
    spec = names if isinstance(names, PartitionSpec) else PartitionSpec(*_renamed(names, meta))  # type: ignore[no-untyped-call]  # jax has no types for it
    mesh: Any = meta.get("mesh") or jax.sharding.get_abstract_mesh()
    if mesh is None or mesh.empty:
        raise MeshRequiredError(spec)
    placed = _place(value, NamedSharding(mesh, spec))
    return placed


def _renamed(names: Any, meta: Metadata) -> tuple[Any, ...]:
    rules: dict[Any, Any] = dict(meta.get("sharding_rules") or ())
    return tuple([rules.get(name, name) for name in names])


def _place(value: Any, sharding: NamedSharding) -> Any:
    if isinstance(value, jax.core.Tracer) or not isinstance(sharding.mesh, jax.sharding.Mesh):
        return jax.lax.with_sharding_constraint(value, sharding)  # type: ignore[no-untyped-call]  # as above
    return jax.device_put(value, sharding)
