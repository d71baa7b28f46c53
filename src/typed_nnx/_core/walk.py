"""Walks over an object graph, without records: for every node once, in one order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typed_nnx._core.nodes import (
    CONTAINER,
    OBJECT,
    VARIABLE,
    GraphNode,
    all_entries,
    children_of,
    kind_of,
    spec_of,
)
from typed_nnx._core.paths import Key, Path, sorted_keys
from typed_nnx._core.pytree_state import own_rows


def is_node(x: Any) -> bool:
    """Whether a walk goes into a value: an object of ours or a container."""
    return kind_of(x) in (OBJECT, CONTAINER)


def entries_with_own(node: Any) -> list[tuple[Key, Any]]:
    """Return every (key, value) of a node, the two bookkeeping rows of a Pytree included."""
    entries = all_entries(node)
    if not isinstance(node, GraphNode):
        return entries
    found = {**dict(entries), **own_rows(node)}
    return [(key, found[key]) for key in sorted_keys(found)]


def walk(node: Any, path: Path, seen: set[int]) -> Iterator[tuple[Path, Any]]:
    """Yield (path, value) of everything below and at a node, children before their parent.

    Args:
        node: Where to start.
        path: Its path.
        seen: Ids of the nodes and Variables that were visited; they are not visited again.
    """
    kind = kind_of(node)
    if kind in (OBJECT, CONTAINER, VARIABLE):
        if id(node) in seen:
            return
        seen.add(id(node))
    if kind in (OBJECT, CONTAINER):
        for key, value in entries_with_own(node):
            yield from walk(value, (*path, key), seen)
    yield path, node


def walk_objects(node: Any, path: Path, seen: set[int]) -> Iterator[tuple[Path, GraphNode]]:
    """Yield (path, object) of every object of ours, children before their parent; leaves are skipped.

    The order is that of `walk`.

    Args:
        node: Where to start: an object or a container.
        path: Its path.
        seen: Ids of what was visited.
    """
    if id(node) in seen:
        return
    seen.add(id(node))
    spec = spec_of(node)
    for key, child in zip(spec.keys, children_of(node, spec), strict=True):
        if kind_of(child) in (OBJECT, CONTAINER):
            yield from walk_objects(child, (*path, key), seen)
    if isinstance(node, GraphNode):
        yield path, node


def iter_graph(node: Any) -> Iterator[tuple[Path, Any]]:
    """Yield (path, value) of every node and leaf below a value, each once."""
    return walk(node, (), set())


def iter_children(node: Any) -> Iterator[tuple[Key, Any]]:
    """Yield (key, child) of the direct children that are objects or Variables."""
    for key, value in all_entries(node):
        kind = kind_of(value)
        if kind in (OBJECT, VARIABLE):
            yield key, value
