"""`eval_shape`: the shapes of what a function would return."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

import jax
from jax.sharding import NamedSharding

from typed_nnx._core.locate import where
from typed_nnx._core.sharding import sharding_of
from typed_nnx._core.tracebacks import hides_frames
from typed_nnx._core.variable import Variable
from typed_nnx._graph.traversal import Traversal
from typed_nnx._transforms.gather import Call, is_object
from typed_nnx._transforms.lift import Lift
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.partition_specs import get_var_pspec, is_placed, with_sharding
from typed_nnx._transforms.shown import names_of, shown
from typed_nnx._transforms.stand_ins import StandIns
from typed_nnx.errors import MeshRequiredError, UnknownMeshAxisError

A = TypeVar("A")


@hides_frames
def eval_shape(
    f: Callable[..., A],
    *args: Any,
    graph: bool | None = None,
    graph_updates: bool | None = None,
    **kwargs: Any,
) -> A:
    """Return what a function returns with shapes in the place of values; nothing is computed.

    The arguments stay as they are: Modules that come out are new ones. The shapes in a Variable have
    the sharding that its metadata says, on the mesh of the metadata or the one in force: without
    ``out_sharding`` they are replicated over a mesh in force.

    >>> import jax.numpy as jnp
    >>> eval_shape(lambda: Param(jnp.ones((2, 3)))).shape
    (2, 3)

    Args:
        f: Any callable, often the class of a Module.
        *args: Its arguments; may be abstract themselves.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.
        **kwargs: Its keyword arguments.

    Returns:
        The result, with `jax.ShapeDtypeStruct` in the place of arrays.

    Raises:
        UnknownMeshAxisError: The mesh has no axis of a name in ``out_sharding``.
    """
    result = shapes_of(f, args, kwargs, graph, graph_updates)
    _declare_shardings(result)
    return result  # type: ignore[no-any-return]  # what f returns, abstract


def shapes_of(
    f: Callable[..., Any],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] = MappingProxyType({}),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Return what `eval_shape` does, with the shardings that jax knows and no others."""
    lift = Lift("eval_shape", f, graph, graph_updates)
    call = lift.gather(args, kwargs)

    def flat(args: Any, kwargs: Any, captured: Any) -> Flat:
        return lift.run(call.signature, args, kwargs, captured)

    names = partial(names_of, lift.parameters, call.signature)
    found: Flat = jax.eval_shape(shown(flat, f, names), call.args, call.kwargs, call.captured)
    return abstract_result(call, found)


def abstract_result(call: Call, found: Flat) -> Any:
    """Return the result of a call with new objects, of which some came in.

    Args:
        call: The call.
        found: What jax says about the shapes of what it returns.
    """
    if found.static.value.treedef is None:
        return found.result
    pure = (call.args, call.kwargs, call.captured)
    args, kwargs, captured = jax.tree.map(_abstract, pure)
    made = StandIns(call.signature, found)
    made.arguments(args, kwargs, captured)
    return made.result(found)


def _declare_shardings(result: Any) -> None:
    """Give the shapes in the Variables of a new result the sharding that their metadata says."""
    for path, root in jax.tree_util.tree_leaves_with_path(result, is_leaf=is_object):
        for leaf in Traversal().visit(root).leaves if is_object(root) else ():
            value = leaf.get_raw_value() if isinstance(leaf, Variable) else None
            if isinstance(leaf, Variable) and not all(map(is_placed, jax.tree.leaves(value))):
                sharding = _declared_sharding(leaf, path)
                if sharding is not None:
                    leaf.set_raw_value(with_sharding(value, sharding))


def _declared_sharding(variable: Variable[Any], path: Any) -> NamedSharding | None:
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


def _abstract(value: Any) -> Any:
    return jax.eval_shape(lambda array: array, value)
