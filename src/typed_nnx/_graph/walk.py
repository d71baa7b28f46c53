"""Functions that go over an object graph and return a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from typed_nnx._core.filters import to_predicate
from typed_nnx._core.nodes import (
    CONTAINER,
    OBJECT,
    VARIABLE,
    Spec,
    kind_of,
    path_key,
    rebuild_container,
    spec_of,
    store_spec,
)
from typed_nnx._core.paths import Key, Path
from typed_nnx._core.variable import Variable
from typed_nnx._core.walk import entries_with_own
from typed_nnx._core.walk import iter_children as _iter_children
from typed_nnx._core.walk import iter_graph as _iter_graph
from typed_nnx._graph.mode import allows_graphs, require_tree
from typed_nnx._graph.rebuild import rebuild
from typed_nnx._graph.record import snapshot
from typed_nnx.errors import UnregisteredPytreeError

A = TypeVar("A")

_OWN_ROWS = frozenset({"_pytree__nodes", "_pytree__state"})


def iter_children(node: Any, /, *, graph: bool | None = None) -> Iterator[tuple[Key, Any]]:
    """Yield (key, child) of the direct children that are objects or Variables.

    Args:
        node: An object, or a container of objects.
        graph: False asserts that the object is a pytree of jax.

    Raises:
        UnregisteredPytreeError: ``graph=False`` and its class is declared with ``pytree=False``.
    """
    if not allows_graphs(graph) and not getattr(type(node), "_nnx_is_pytree", True):
        raise UnregisteredPytreeError("iter_children", type(node).__name__, ())
    return _iter_children(node)


def iter_graph(node: Any, /, *, graph: bool | None = None) -> Iterator[tuple[Path, Any]]:
    """Yield (path, value) of every node and leaf, static values too; children come first.

    A node that is reached on several paths is visited once, on the first.

    Args:
        node: An object, a container or a leaf.
        graph: False asserts that the graph is a tree.

    Raises:
        SharedReferenceError: ``graph=False`` and an object is reached on two paths.
    """
    require_tree("iter_graph", node, graph)
    return _iter_graph(node)


def map(  # noqa: A001 -- the public name
    f: Callable[[Path, Any], Any],
    node: A,
    /,
    *,
    graph: bool | None = None,
    recreate_variables: bool = True,
) -> A:
    """Return the object graph with ``f(path, leaf)`` in the place of each leaf.

    Where `f` returns something else than a Variable for a Variable, a new Variable of the same
    type and metadata holds it.

    Args:
        f: Takes the path and the Variable or array.
        node: An object, or a container of objects.
        graph: False asserts that the graph is a tree.
        recreate_variables: If False, what `f` returns for a Variable takes its place as it is.

    Raises:
        SharedReferenceError: ``graph=False`` and an object is reached on two paths.
    """
    require_tree("map", node, graph)
    record = snapshot(node)
    structure = record.graphdef
    leaves = [
        f(path, leaf) for path, leaf in zip(structure.layout.paths, record.values(), strict=True)
    ]
    mapped: A = rebuild(structure, leaves, recreate_variables=recreate_variables)
    return mapped


def recursive_map(f: Callable[[Path, Any], Any], node: Any, /, *, graph: bool | None = None) -> Any:
    """Return a copy of an object graph in which `f` has seen every node and leaf.

    ``f(path, value)`` is called for leaves, static values and nodes, children before their parent,
    and its result takes the place of the value. Variables stay the same objects.

    Args:
        f: Takes the path and the value (a node is a new one, with its new children).
        node: An object, or a container of objects.
        graph: False asserts that the graph is a tree.

    Raises:
        SharedReferenceError: ``graph=False`` and an object is reached on two paths.
    """
    require_tree("recursive_map", node, graph)
    return _RecursiveMap(f).of(node, ())


class _RecursiveMap:
    def __init__(self, function: Callable[[Path, Any], Any]) -> None:
        self.function = function
        self.made: dict[int, Any] = {}

    def of(self, node: Any, path: Path) -> Any:
        kind = kind_of(node)
        if kind in (OBJECT, VARIABLE) and id(node) in self.made:
            return self.made[id(node)]
        if kind == OBJECT:
            return self._object(node, path)
        if kind == VARIABLE:
            result = self.made[id(node)] = self.function(path, node)
            return result
        if kind != CONTAINER:
            return self.function(path, node)
        entries = [(key, self.of(value, (*path, key))) for key, value in entries_with_own(node)]
        return self.function(path, _rebuilt(node, entries))

    def _object(self, node: Any, path: Path) -> Any:
        copy = self.made[id(node)] = type(node)._nnx_rebuild(spec_of(node))
        names = {path_key(type(node), name): name for name in node.__dict__}
        for key, value in entries_with_own(node):
            new = self.of(value, (*path, key))
            if key not in _OWN_ROWS or key in names:
                copy.__dict__[names[key]] = new
        store_spec(copy, None)
        result = self.made[id(node)] = self.function(path, copy)
        return result


def _rebuilt(node: Any, entries: list[tuple[Key, Any]]) -> Any:
    spec = spec_of(node)
    found = dict(entries)
    statics = tuple([(name, found[name]) for name, _ in spec.statics])
    changed = Spec(spec.cls, spec.names, statics, treedef=spec.treedef, order=spec.order)
    return rebuild_container(changed, [found[name] for name in spec.names])


def set_metadata(node: Any, /, *, only: Any = Variable, **metadata: Any) -> None:
    """Set metadata of every Variable in an object graph that a filter matches.

    Args:
        node: An object, or a container of objects.
        only: The filter.
        **metadata: The items to set.
    """
    from_filter = to_predicate(only)
    for path, leaf in _variables(node):
        if from_filter(path, leaf):
            leaf.set_metadata(**metadata)


def _variables(node: Any) -> list[tuple[Path, Variable[Any]]]:
    record = snapshot(node)
    structure = record.graphdef
    leaves = zip(structure.layout.paths, record.values(), strict=True)
    return [(path, leaf) for path, leaf in leaves if isinstance(leaf, Variable)]
