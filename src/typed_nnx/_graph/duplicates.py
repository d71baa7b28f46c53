"""Objects that are reached on more than one path, and what is a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from typed_nnx._core.filters import Filter, to_predicate
from typed_nnx._core.nodes import CONTAINER, LEAF, OBJECT, STATIC, all_entries, kind_of
from typed_nnx._core.paths import Path
from typed_nnx.errors import ContainerCycleError, SharedReferenceError, UnregisteredPytreeError


def _occurrences(
    node: Any, path: Path, seen: set[int], above: tuple[int, ...] = ()
) -> Iterator[tuple[Path, Any]]:
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
        raise ContainerCycleError(path, type(node).__name__)
    else:
        above = (*above, id(node))
    for key, value in all_entries(node):
        yield from _occurrences(value, (*path, key), seen, above)


def _by_identity(node: Any, only: Filter) -> list[tuple[Any, list[Path]]]:
    predicate = to_predicate(only)
    found: dict[int, tuple[Any, list[Path]]] = {}
    for path, value in _occurrences(node, (), set()):
        if kind_of(value) != CONTAINER:
            found.setdefault(id(value), (value, []))[1].append(path)
    # As in flax, the filter is asked about the repetitions, not about the first path.
    chosen = [
        (value, [paths[0], *[path for path in paths[1:] if predicate(path, value)]])
        for value, paths in found.values()
    ]
    return [entry for entry in chosen if len(entry[1]) > 1]


def find_duplicates(node: Any, /, *, only: Filter = ...) -> list[list[Path]]:
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
        UnregisteredPytreeError: An object in it is declared with ``pytree=False``.
        SharedReferenceError: An object, Variable or reference is reached on two paths.
    """
    for path, value in _occurrences(node, (), set()):
        if kind_of(value) == OBJECT and not value._nnx_is_pytree:
            raise UnregisteredPytreeError(function, type(value).__name__, name(path))
    for value, paths in _by_identity(node, ...):
        if kind_of(value) != LEAF:
            raise SharedReferenceError(function, type(value).__name__, list(map(name, paths)))
