"""The partitions and shardings that the metadata of Variables say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax
from jax.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec

from typed_nnx._core.sharding import declared_partition, named_sharding
from typed_nnx._core.variable import AnyVariable, Variable
from typed_nnx._transforms.engine.prefixes import Function, Tree, Value

A = TypeVar("A")

_partition_spec: Tree = PartitionSpec  # jax gives it no types
REPLICATED: PartitionSpec = _partition_spec()


def get_var_pspec(v: AnyVariable) -> PartitionSpec | None:
    """Return the partition that the metadata of a Variable says.

    Args:
        v: The Variable.

    Returns:
        The partition, after the rules for logical axes; without ``out_sharding`` an empty one for
        an array, and None for any other value.

    Raises:
        ShardingError: ``sharding_rules`` contradict the current rules.
    """
    declared = declared_partition(v._meta)
    return _of_array(v.get_raw_value()) if declared is None else declared


def get_partition_spec(tree: A) -> A:
    """Return the tree with a partition in place of each value.

    Variables keep their types and metadata, so that the result fits where the tree fits, as in
    ``jax.lax.with_sharding_constraint(state, nnx.get_partition_spec(state))``.

    Args:
        tree: A pytree, such as a State or a Module, with values or shapes.

    Returns:
        The tree with what `get_var_pspec` says of each Variable, an empty partition for each other
        array and None for any other leaf.

    Raises:
        ShardingError: ``sharding_rules`` contradict the current rules.
    """
    return map_variables(lambda where, v: get_var_pspec(v), _of_array, tree)


def get_named_sharding(tree: A, mesh: Mesh | AbstractMesh) -> A:
    """Return the tree with a sharding over a mesh in place of each value.

    >>> import jax, jax.numpy as jnp
    >>> mesh = jax.make_mesh((1,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    >>> weight = Param(jnp.ones((2, 3)), out_sharding=("data", None), mesh=mesh)
    >>> get_named_sharding(weight, mesh).get_value().spec
    P('data', None)

    Args:
        tree: A pytree, such as a State or a Module, with values or shapes.
        mesh: The mesh; a mesh in the metadata does not count.

    Returns:
        The tree as of `get_partition_spec`, each partition over `mesh`.

    Raises:
        UnknownMeshAxisError: The mesh has no axis of a name in the metadata.
        ShardingError: ``sharding_rules`` contradict the current rules.
    """

    def of_variable(where: str, v: AnyVariable) -> NamedSharding | None:
        spec = get_var_pspec(v)
        return None if spec is None else named_sharding(where, mesh, spec)

    def of_leaf(leaf: Value) -> NamedSharding | None:
        return None if _of_array(leaf) is None else NamedSharding(mesh, REPLICATED)

    return map_variables(of_variable, of_leaf, tree)


def _of_array(value: Value) -> PartitionSpec | None:
    return REPLICATED if hasattr(value, "shape") else None


def map_variables(
    of_variable: Callable[[str, AnyVariable], Tree], of_leaf: Callable[[Any], Tree], tree: A
) -> A:
    """Return a pytree with new values in its Variables and in place of its other leaves.

    `of_variable` gets where a Variable is, and the Variable. One that is there twice stays one.
    """
    made: dict[int, AnyVariable] = {}

    def new(path: Tree, leaf: Value) -> Tree:
        if not isinstance(leaf, Variable):
            return of_leaf(leaf)
        if id(leaf) not in made:
            where = f"{type(leaf).__name__} {jax.tree_util.keystr(path)}".rstrip()
            made[id(leaf)] = _with_value(leaf, of_variable(where, leaf))
        return made[id(leaf)]

    def is_variable(value: Value) -> bool:
        return isinstance(value, Variable)

    mapped: A = jax.tree_util.tree_map_with_path(new, tree, is_leaf=is_variable)
    return mapped


def _with_value(variable: AnyVariable, value: Value) -> AnyVariable:
    # What is no array cannot lie in a reference.
    meta = variable._meta.updated({"ref": False}) if variable.ref else variable._meta
    return type(variable)._make(value, meta)


def is_placed(leaf: Value) -> bool:
    """Whether there is nothing to say about where a leaf lies."""
    return not isinstance(leaf, jax.ShapeDtypeStruct) or leaf.sharding is not None


def with_sharding(value: Value, sharding: NamedSharding) -> Tree:
    """Return a tree with a sharding for its shapes that have none or another."""

    def placed(leaf: Value) -> Tree:
        if not isinstance(leaf, jax.ShapeDtypeStruct):
            return leaf
        update: Function = leaf.update  # jax has no types for it
        return update(sharding=sharding)

    return jax.tree.map(placed, value)
