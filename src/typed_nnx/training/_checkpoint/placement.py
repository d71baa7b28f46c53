"""Where restored arrays go: beside those that they replace, or where the user says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import jax
import numpy as np
from jax.sharding import AbstractMesh, NamedSharding, Sharding

from typed_nnx._core.paths import Path
from typed_nnx._core.sharding import sharding_of as declared_sharding
from typed_nnx._core.variable import Variable
from typed_nnx.errors import CheckpointError
from typed_nnx.training._checkpoint.leaves import Leaf

Placement: TypeAlias = (
    Sharding | Mapping[Any, Any] | Callable[[Path, jax.ShapeDtypeStruct], Sharding | None] | None
)
"""One sharding for all arrays, a State of shardings, or a function of path and shape; None: as now."""


def sharding_of(function: str, path: str, leaf: Leaf, given: Placement) -> Sharding | None:
    """Return the sharding that a leaf gets, or None for an array that is free to move.

    Raises:
        CheckpointError: The sharding does not divide the shape.
    """
    if leaf.record.kind == "value" or leaf.record.holder != "jax":
        return None
    found = _asked(leaf, given) if given is not None else None
    if found is None:
        return _present(leaf)
    try:
        if isinstance(found, NamedSharding) and len(found.spec) > len(leaf.record.shape):
            raise ValueError("its partition has more dimensions than the array")
        found.shard_shape(leaf.record.shape)
    except ValueError as error:
        problem = (
            f"cannot be restored with {found} at {leaf.path!r}, which is {leaf.record}: {error}"
        )
        fix = "give each array a sharding that divides it: sharding=lambda path, array: ..."
        raise CheckpointError(function, path, problem, fix) from error
    return found


def _asked(leaf: Leaf, given: Any) -> Sharding | None:
    if isinstance(given, Mapping):
        level: Any = given
        for key in leaf.path:
            if isinstance(level, Variable):  # the sharding of all that is in the Variable
                break
            if not isinstance(level, Mapping) or key not in level:
                return None
            level = level[key]
        given = level.get_raw_value() if isinstance(level, Variable) else level
    elif not isinstance(given, Sharding):
        return given(leaf.path, _struct(leaf))  # type: ignore[no-any-return]  # a function of the user
    return given if isinstance(given, Sharding) else getattr(given, "sharding", None)


def _struct(leaf: Leaf) -> Any:
    dtype = leaf.value.dtype if leaf.record.kind == "key" else np.dtype(leaf.record.dtype)
    return jax.ShapeDtypeStruct(leaf.record.shape, dtype)  # type: ignore[no-untyped-call]  # jax has no types for it


def _present(leaf: Leaf) -> Sharding | None:
    value = leaf.value
    if isinstance(value, jax.Array):
        return value.sharding if value.committed else None
    if not isinstance(value, jax.ShapeDtypeStruct):
        return getattr(value, "sharding", None)  # a reference to an array
    known = value.sharding
    if isinstance(known, NamedSharding):
        return _on_devices(known)
    return _by_metadata(leaf.variable)


def _on_devices(sharding: NamedSharding) -> NamedSharding | None:
    if not isinstance(sharding.mesh, AbstractMesh):
        return sharding
    mesh = jax.sharding.get_mesh()
    return None if mesh.empty else NamedSharding(mesh, sharding.spec)


def _by_metadata(variable: Variable[Any] | None) -> Sharding | None:
    meta = None if variable is None else variable._meta
    names = None if meta is None else meta.get("out_sharding")
    if meta is None or names is None:
        return None
    no_mesh = meta.get("mesh") is None and jax.sharding.get_mesh().empty
    if no_mesh and not isinstance(names, NamedSharding):
        return None
    return declared_sharding("load", meta, abstract=False)
