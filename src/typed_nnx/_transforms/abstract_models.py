"""Models as shapes with shardings: `get_abstract_model`, `as_abstract`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax
from jax.sharding import Mesh, NamedSharding

from typed_nnx._core.nodes import LEAF, kind_of
from typed_nnx._core.sharding import named_sharding, sharding_of
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.mode import require_tree
from typed_nnx._graph.split_merge import split
from typed_nnx._transforms.eval_shape import shapes_of
from typed_nnx._transforms.partition_specs import (
    get_var_pspec,
    is_placed,
    map_variables,
    with_sharding,
)

A = TypeVar("A")


def get_abstract_model(
    init_fn: Callable[[], A], mesh: Mesh, *, graph: bool | None = None
) -> tuple[GraphDef[A], State[Any, Any, A, Any]]:
    """Return the structure of a model and the shapes, dtypes and shardings of its State.

    Nothing is computed and no memory taken: it is what a checkpoint is restored into, or a program
    is compiled for.

    Args:
        init_fn: Makes the model.
        mesh: The mesh that the State shall lie on.
        graph: False asserts that the model is a tree, without shared references.

    Returns:
        The GraphDef, and the State with `jax.ShapeDtypeStruct` in the place of arrays; without
        ``out_sharding`` an array is replicated.

    Raises:
        UnknownMeshAxisError: The mesh has no axis of a name in the metadata of a Variable.
        SharedReferenceError: With ``graph=False``, and a Variable is reached on two paths.
    """

    def parts() -> Any:
        model = init_fn()
        require_tree("get_abstract_model", model, graph)
        return split(model)

    with jax.set_mesh(mesh):
        graphdef, state = shapes_of(parts)

    def of_variable(where: str, variable: Variable[Any]) -> Any:
        spec = get_var_pspec(variable)
        sharding = replicated if spec is None else named_sharding(where, mesh, spec)
        return with_sharding(variable.get_raw_value(), sharding)

    replicated = NamedSharding(mesh, jax.sharding.PartitionSpec())  # type: ignore[no-untyped-call]  # of jax
    return graphdef, map_variables(of_variable, lambda leaf: with_sharding(leaf, replicated), state)


def as_abstract(tree: A, graph: bool | None = None) -> A:
    """Return the tree with shapes, dtypes and shardings (`jax.ShapeDtypeStruct`) for its arrays.

    Arrays and shapes that lie somewhere already keep their sharding; the shape in a Variable with
    ``out_sharding`` gets it on the mesh of its metadata or the one in force.

    Args:
        tree: Any pytree, such as a State or a Module, or what `eval_shape` made of it.
        graph: False asserts that there are no shared references.

    Raises:
        MeshRequiredError: There is neither a mesh in the metadata nor one in force.
        UnknownMeshAxisError: The mesh has no axis of a name in ``out_sharding``.
        InconsistentAxisRulesError: ``sharding_rules`` contradict the rules in force.
        SharedReferenceError: With ``graph=False``, and a Variable is reached on two paths.
    """
    require_tree("as_abstract", tree, graph)
    return map_variables(_abstract_value, _abstract, tree)


def _abstract_value(where: str, variable: Variable[Any]) -> Any:
    value = jax.tree.map(_abstract, variable.get_raw_value())
    names = variable._meta.get("out_sharding")
    if names is None or all(map(is_placed, jax.tree.leaves(value))):
        return value
    if not names and not _knows_mesh(variable):  # that it is not cut can be said without a mesh
        return value
    # Shapes know no devices, and so the abstract mesh is enough for them.
    sharding = sharding_of(where, variable._meta, abstract=True)
    return jax.tree.map(
        lambda leaf: leaf if is_placed(leaf) else with_sharding(leaf, sharding), value
    )


def _knows_mesh(variable: Variable[Any]) -> bool:
    in_force = jax.sharding.get_abstract_mesh()
    return variable._meta.get("mesh") is not None or not in_force.empty


def _abstract(leaf: Any) -> Any:
    if kind_of(leaf) != LEAF:
        return leaf
    sharding = getattr(leaf, "sharding", None)
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)  # type: ignore[no-untyped-call]  # jax has no types for it
