"""Sharding metadata: the partition that it says, and the placement of the value of a new Variable."""

from __future__ import annotations

import contextlib
from typing import Any, TypeVar

import jax
import jax.core
import numpy as np
from jax.experimental.layout import Format
from jax.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec

from typed_nnx._core.locate import under_construction
from typed_nnx._core.logical_axes import partition_spec_of, partitions_of
from typed_nnx._core.metadata import Metadata
from typed_nnx.errors import MeshRequiredError, UnknownMeshAxisError

A = TypeVar("A")

# jax gives these no types.
_reshard: Any = jax.sharding.reshard
_constrain: Any = jax.lax.with_sharding_constraint


def place_value(value: A, meta: Metadata) -> A:
    """Return `value` with its arrays laid out over the mesh as ``out_sharding`` in `meta` says.

    Without names in ``out_sharding`` or with ``eager_sharding=False`` the value comes back as it is.

    Raises:
        MeshRequiredError: There is neither a mesh in the metadata nor one in force.
        UnknownMeshAxisError: The mesh has no axis of a name in ``out_sharding``.
        InconsistentAxisRulesError: ``sharding_rules`` contradict the rules in force.
    """
    if not meta.get("out_sharding") or not meta.get("eager_sharding"):
        return value
    arrays = [leaf for leaf in jax.tree.leaves(value) if isinstance(leaf, jax.Array | np.ndarray)]
    if not arrays:
        return value
    traced = any(isinstance(leaf, jax.core.Tracer) for leaf in arrays) or _in_a_trace()
    sharding = sharding_of("Variable", meta, abstract=traced)
    names = meta.get("out_sharding")
    target = names if isinstance(names, Format) else sharding
    if not traced:
        place = jax.device_put
    elif jax.sharding.AxisType.Explicit in sharding.mesh.axis_types and target is sharding:
        place = _reshard
    else:
        place = _constrain
    placed: A = jax.tree.map(
        lambda leaf: place(leaf, target) if isinstance(leaf, jax.Array | np.ndarray) else leaf,
        value,
    )
    return placed


def _in_a_trace() -> bool:
    """Whether jax traces now, so that values are placed by the program and not at once."""
    try:
        jax.sharding.get_mesh()
    except ValueError:
        return True
    return False


def _named_sharding_in(names: object) -> NamedSharding | None:
    """Return the sharding that ``out_sharding`` is, if it is more than names of axes."""
    sharding = names.sharding if isinstance(names, Format) else names
    return sharding if isinstance(sharding, NamedSharding) else None


def declared_partition(meta: Metadata) -> PartitionSpec | None:
    """Return the partition that ``out_sharding`` says under the rules in force; None without it.

    Raises:
        InconsistentAxisRulesError: ``sharding_rules`` contradict the rules in force.
    """
    names: Any = meta.get("out_sharding")
    if names is None:
        return None
    given = _named_sharding_in(names)
    return partition_spec_of(names, meta.get("sharding_rules")) if given is None else given.spec


def sharding_of(where: str, meta: Metadata, *, abstract: bool) -> NamedSharding:
    """Return the sharding that the metadata with ``out_sharding`` of a Variable says.

    Args:
        where: The Variable, for errors.
        meta: Its metadata.
        abstract: Without a mesh in the metadata, take the abstract mesh in force, which is all
            that is known under a trace; else the concrete one.

    Raises:
        MeshRequiredError: There is neither a mesh in the metadata nor one in force.
        UnknownMeshAxisError: The mesh has no axis of a name in ``out_sharding``.
        InconsistentAxisRulesError: ``sharding_rules`` contradict the rules in force.
    """
    names: Any = meta.get("out_sharding")
    given = _named_sharding_in(names)
    if given is not None:
        return given
    spec = partition_spec_of(names, meta.get("sharding_rules"))
    mesh: Any = meta.get("mesh")
    if mesh is None:
        mesh = _mesh_in_force(abstract)
    if mesh.empty:
        raise MeshRequiredError(spec, under_construction() or where)
    return named_sharding(where, mesh, spec)


def _mesh_in_force(abstract: bool) -> Mesh | AbstractMesh:
    in_force = jax.sharding.get_abstract_mesh()
    if not abstract and not in_force.empty:
        with contextlib.suppress(ValueError):  # under a trace there is only the abstract one
            return jax.sharding.get_mesh()
    return in_force


def named_sharding(where: str, mesh: Mesh | AbstractMesh, spec: PartitionSpec) -> NamedSharding:
    """Return a partition over a mesh.

    Args:
        where: The Variable, for errors.
        mesh: The mesh.
        spec: The partition.

    Raises:
        UnknownMeshAxisError: The mesh has no axis of a name in the partition.
    """
    named = [
        name
        for part in partitions_of(spec)
        for name in (part if isinstance(part, tuple) else (part,))
    ]
    unknown = [name for name in named if isinstance(name, str) and name not in mesh.axis_names]
    if unknown:
        raise UnknownMeshAxisError(where, spec, tuple(unknown), mesh.axis_names)
    return NamedSharding(mesh, spec)
