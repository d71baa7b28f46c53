"""`with_partitioning`: initializers whose arrays come with sharding metadata."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from jax.sharding import Mesh

from typed_nnx._core.logical_axes import Sharding
from typed_nnx._core.variable_metadata import VariableMetadata
from typed_nnx._core.with_metadata import with_metadata

A = TypeVar("A")
P = ParamSpec("P")


def with_partitioning(
    initializer: Callable[P, A], sharding: Sharding, mesh: Mesh | None = None, **metadata: Any
) -> Callable[P, VariableMetadata[A]]:
    """Return an initializer whose result says how it is laid out over a mesh.

    >>> import jax
    >>> init = with_partitioning(jax.nn.initializers.ones, ("embed", None))
    >>> init(jax.random.key(0), (4, 8)).metadata["out_sharding"]
    ('embed', None)

    Args:
        initializer: The initializer.
        sharding: For each axis of the array the mesh axis (or logical axis, or tuple of mesh axes)
            that it is cut along; None for an axis that is not cut.
        mesh: The mesh; without it, that in force where the Variable is made.
        **metadata: More metadata and hooks, as for `with_metadata`.
    """
    return with_metadata(initializer, out_sharding=sharding, mesh=mesh, **metadata)
