"""`graph=` and `graph_updates=`: assertions about object graphs, and their defaults."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from typed_nnx._core.filters import Filter, to_predicate
from typed_nnx._core.nodes import CONTAINER, LEAF, OBJECT, STATIC, GraphNode, all_entries, kind_of
from typed_nnx._core.paths import Path
from typed_nnx._core.settings import Setting
from typed_nnx.errors import GraphError, SharedReferenceError


def _occurrences(
    node: object, path: Path, seen: set[int], above: tuple[int, ...] = ()
) -> Iterator[tuple[Path, object]]:
    """Yield (path, value) of every occurrence of every node and leaf, parents first."""
    kind = kind_of(node)
    if kind == STATIC:
        return
    yield path, node
    if kind not in (OBJECT, CONTAINER) or id(node) in seen:
        return
    if kind == OBJECT:
        seen.add(id(node))
        above = ()
    elif id(node) in above:
        raise GraphError.contains_itself(path, node)
    else:
        above = (*above, id(node))
    for key, value in all_entries(node):
        yield from _occurrences(value, (*path, key), seen, above)


def _by_identity(node: object, only: Filter) -> list[tuple[object, list[Path]]]:
    predicate = to_predicate(only)
    found: dict[int, tuple[object, list[Path]]] = {}
    for path, value in _occurrences(node, (), set()):
        if kind_of(value) != CONTAINER:
            found.setdefault(id(value), (value, []))[1].append(path)
    # As in flax, the filter is asked about the repetitions, not about the first path.
    chosen = [
        (value, [paths[0], *[path for path in paths[1:] if predicate(path, value)]])
        for value, paths in found.values()
    ]
    return [entry for entry in chosen if len(entry[1]) > 1]


def find_duplicates(node: object, /, *, only: Filter = ...) -> list[list[Path]]:
    """Return, for each object that is reached on several paths, the list of its paths.

    Args:
        node: An object, or a container of objects.
        only: Consider only the repetitions that this filter matches, by their path and value.
    """
    return [paths for _, paths in _by_identity(node, only)]


def check_tree(
    function: str, node: Any, name: Callable[[Path], Path | str] = lambda path: path
) -> None:
    """Raise if something is not a tree of pytrees of jax.

    Args:
        function: What was called, for errors.
        node: An object, or a container of objects.
        name: Returns how errors name a path.

    Raises:
        GraphError: An object in it is declared with ``pytree=False``.
        SharedReferenceError: An object, Variable or reference is reached on two paths.
    """
    for path, value in _occurrences(node, (), set()):
        if isinstance(value, GraphNode) and not value._nnx_is_pytree:
            raise GraphError.is_no_pytree(function, name(path), value)
    for value, paths in _by_identity(node, ...):
        if kind_of(value) != LEAF:
            raise SharedReferenceError(function, type(value).__name__, list(map(name, paths)))


class _Modes(threading.local):
    """What this thread has set; None is the default."""

    graph: bool | None = None
    graph_updates: bool | None = None


_modes = _Modes()


class set_graph_mode(Setting):  # lower case: it is called like a function
    """Set the default of ``graph=``, from now on, for a block or for the calls of a function.

    With False, every graph must be a tree: an object reached on two paths is an error.
    """

    __slots__ = ()

    @classmethod
    def _apply(cls, value: bool) -> None:
        _modes.graph = value if cls.get_stack() else None


class set_graph_updates(Setting):  # lower case: it is called like a function
    """Set the default of ``graph_updates=``, from now on, for a block or for the calls of a function.

    With False, transforms must leave the structure of their arguments as it was.
    """

    __slots__ = ()

    @classmethod
    def _apply(cls, value: bool) -> None:
        _modes.graph_updates = value if cls.get_stack() else None


def allows_graphs(graph: bool | None) -> bool:
    """Return the current graph mode: what is given, else the default of this thread."""
    given = _modes.graph if graph is None else graph
    return set_graph_mode._default if given is None else given


def require_tree(function: str, node: object, graph: bool | None) -> bool:
    """Raise if trees are asserted and an object graph is none; see `check_tree`.

    Returns:
        Whether trees are asserted.
    """
    if allows_graphs(graph):
        return False
    if kind_of(node) not in (LEAF, STATIC):
        check_tree(function, node)
    return True


def resolve_modes(graph: bool | None, graph_updates: bool | None) -> tuple[bool, bool]:
    """Return the current modes: what is given, else the defaults of this thread."""
    graphs = allows_graphs(graph)
    updates = _modes.graph_updates if graph_updates is None else graph_updates
    if updates is None:
        updates = set_graph_updates.get_default()
    return graphs, updates and graphs
