"""`eval_shape`: the shapes of what a function would return."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import jax
from jax.sharding import Mesh, NamedSharding

from typed_nnx._core.jax_runtime import hides_frames, where
from typed_nnx._core.nodes import LEAF, kind_of
from typed_nnx._core.settings import typed_as
from typed_nnx._core.sharding import named_sharding, sharding_of
from typed_nnx._core.state import State
from typed_nnx._core.variable import AnyVariable, Variable
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.mode import require_tree
from typed_nnx._graph.split import split
from typed_nnx._graph.traversal import Traversal
from typed_nnx._transforms.engine.call import Call, is_object
from typed_nnx._transforms.engine.lift import Lift
from typed_nnx._transforms.engine.prefixes import Function, Tree, Value
from typed_nnx._transforms.engine.signature import TraceResult
from typed_nnx._transforms.engine.write import built_result
from typed_nnx._transforms.partition_specs import (
    REPLICATED,
    get_var_pspec,
    is_placed,
    map_variables,
    with_sharding,
)
from typed_nnx.errors import MeshRequiredError, UnknownMeshAxisError

if TYPE_CHECKING:
    from typed_nnx._transforms import shape_overloads as overloads


A = TypeVar("A")


@typed_as(lambda: overloads.eval_shape)
@hides_frames
def eval_shape(
    f: Callable[..., A],
    *args: Tree,
    graph: bool | None = None,
    graph_updates: bool | None = None,
    **kwargs: Tree,
) -> A:
    """Return what a function returns with shapes in place of values; nothing is computed.

    The arguments stay as they are: Modules that come out are new ones. The shapes in a Variable have
    the sharding that its metadata says, on the mesh of the metadata or the current one: without
    ``out_sharding`` they are replicated over a current mesh.

    >>> import jax.numpy as jnp
    >>> eval_shape(lambda: Param(jnp.ones((2, 3)))).shape
    (2, 3)

    Args:
        f: The function, often the class of a Module.
        *args: Its arguments; may be abstract themselves.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.
        **kwargs: Its keyword arguments.

    Returns:
        The result, with `jax.ShapeDtypeStruct` in place of arrays.

    Raises:
        UnknownMeshAxisError: The mesh has no axis of a name in ``out_sharding``.
    """
    result: A = shapes_of(f, args, kwargs, graph, graph_updates)
    _declare_shardings(result)
    return result


def shapes_of(
    f: Function,
    args: tuple[Tree, ...] = (),
    kwargs: Mapping[str, Tree] = MappingProxyType({}),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Tree:
    """Return what `eval_shape` does, with the shardings that jax knows and no others."""
    lift = Lift("eval_shape", f, graph, graph_updates)
    call = lift.gather(args, kwargs)
    flat = lift.flat(call.signature)
    return abstract_result(call, jax.eval_shape(flat, call.args, call.kwargs, call.captured))


def abstract_result(call: Call, found: TraceResult) -> Tree:
    """Return the result of a call with new objects, of which some came in."""
    if found.effects.treedef is None:
        return found.result
    pure = (call.args, call.kwargs, call.captured)
    shapes = call.signature.map(lambda _, own: jax.tree.map(_abstract, own), *pure)
    return built_result(call.signature, found, *shapes)


def _declare_shardings(result: Tree) -> None:
    """Give the shapes in the Variables of a new result the sharding that their metadata says."""
    for path, root in jax.tree_util.tree_leaves_with_path(result, is_leaf=is_object):
        for leaf in Traversal().visit(root).leaves if is_object(root) else ():
            value = leaf.get_raw_value() if isinstance(leaf, Variable) else None
            if isinstance(leaf, Variable) and not all(map(is_placed, jax.tree.leaves(value))):
                sharding = _declared_sharding(leaf, path)
                if sharding is not None:
                    leaf.set_raw_value(with_sharding(value, sharding))


def _declared_sharding(variable: AnyVariable, path: Tree) -> NamedSharding | None:
    meta = variable._meta
    try:
        if meta.get("out_sharding") is not None:
            return sharding_of(type(variable).__name__, meta, abstract=True)
    except MeshRequiredError:
        return None
    except UnknownMeshAxisError as error:
        named = f"{error.where} {jax.tree_util.keystr(path)}".rstrip()
        error.where = where(variable) or named
        raise
    mesh, spec = meta.get("mesh") or jax.sharding.get_abstract_mesh(), get_var_pspec(variable)
    return None if mesh.empty or spec is None else NamedSharding(mesh, spec)


def _abstract(value: Value) -> Tree:
    return jax.eval_shape(lambda array: array, value)


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
        The GraphDef, and the State with `jax.ShapeDtypeStruct` in place of arrays; without
        ``out_sharding`` an array is replicated.

    Raises:
        UnknownMeshAxisError: The mesh has no axis of a name in the metadata of a Variable.
        SharedReferenceError: With ``graph=False``, and a Variable is reached on two paths.
    """

    def parts() -> Tree:
        model = init_fn()
        require_tree("get_abstract_model", model, graph)
        return split(model)

    with jax.set_mesh(mesh):
        graphdef, state = shapes_of(parts)

    def of_variable(where: str, variable: AnyVariable) -> Tree:
        spec = get_var_pspec(variable)
        sharding = replicated if spec is None else named_sharding(where, mesh, spec)
        return with_sharding(variable.get_raw_value(), sharding)

    replicated = NamedSharding(mesh, REPLICATED)
    return graphdef, map_variables(of_variable, lambda leaf: with_sharding(leaf, replicated), state)


def as_abstract(tree: A, graph: bool | None = None) -> A:
    """Return the tree with shapes, dtypes and shardings (`jax.ShapeDtypeStruct`) for its arrays.

    Arrays and shapes that have a sharding keep it; the shape in a Variable with ``out_sharding``
    gets that, on the mesh of its metadata or the current one.

    Args:
        tree: A pytree, such as a State or a Module, or what `eval_shape` made of it.
        graph: False asserts that there are no shared references.

    Raises:
        MeshRequiredError: There is neither a mesh in the metadata nor a current one.
        UnknownMeshAxisError: The mesh has no axis of a name in ``out_sharding``.
        ShardingError: ``sharding_rules`` contradict the current rules.
        SharedReferenceError: With ``graph=False``, and a Variable is reached on two paths.
    """
    require_tree("as_abstract", tree, graph)
    return map_variables(_abstract_value, _abstract_model, tree)


def _abstract_value(where: str, variable: AnyVariable) -> Tree:
    value = jax.tree.map(_abstract_model, variable.get_raw_value())
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


def _knows_mesh(variable: AnyVariable) -> bool:
    in_force = jax.sharding.get_abstract_mesh()
    return variable._meta.get("mesh") is not None or not in_force.empty


def _abstract_model(leaf: Value) -> Tree:
    if kind_of(leaf) != LEAF:
        return leaf
    sharding = getattr(leaf, "sharding", None)
    return _shape(leaf.shape, leaf.dtype, sharding=sharding)


_shape: Function = jax.ShapeDtypeStruct  # jax has no types for it
