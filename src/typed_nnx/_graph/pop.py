"""`pop`: Variables taken out of an object graph."""

from __future__ import annotations

from typing import Any

from typed_nnx._core.filters import Filter, Predicate, to_predicate
from typed_nnx._core.nested import nested_of
from typed_nnx._core.nodes import CONTAINER, LEAF, OBJECT, VARIABLE, GraphNode, all_entries, kind_of
from typed_nnx._core.paths import Path
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.state import State
from typed_nnx._graph.update import check_trace
from typed_nnx.errors import ImmutableNodeError, MissingFilterError


class _Search:
    """Finds what filters take, without changing anything yet."""

    def __init__(self, predicates: tuple[Predicate, ...]) -> None:
        self.predicates = predicates
        self.groups: list[list[tuple[Path, Any]]] = [[] for _ in predicates]
        self.removals: list[tuple[Any, Any]] = []
        self._seen: set[int] = set()
        self._taken: set[int] = set()

    def visit(self, node: Any, path: Path, above: tuple[Any, ...] = ()) -> None:
        """Look at a node and everything below it."""
        kind = kind_of(node)
        if kind == OBJECT:
            if id(node) in self._seen:
                return
            self._seen.add(id(node))
        elif kind != CONTAINER:
            return
        holders = (*above, node)
        for key, value in all_entries(node):
            here = (*path, key)
            below = kind_of(value)
            if below in (OBJECT, CONTAINER):
                self.visit(value, here, holders)
            elif below in (VARIABLE, LEAF) and self._takes(here, value):
                _check_removable(holders, here)
                self.removals.append((node, key))

    def _takes(self, path: Path, value: Any) -> bool:
        if id(value) in self._taken:  # shared: only its first path is cleared, as in flax
            return False
        for index, predicate in enumerate(self.predicates):
            if predicate(path, value):
                if kind_of(value) == VARIABLE:
                    self._taken.add(id(value))
                self.groups[index].append((path, value))
                return True
        return False


def _check_removable(holders: tuple[Any, ...], path: Path) -> None:
    check_trace(holders, path)
    if not isinstance(holders[-1], Pytree | dict):
        raise ImmutableNodeError("pop", path, type(holders[-1]).__name__)


def pop(node: Any, *filters: Filter) -> Any:
    """Take the Variables that filters match out of an object graph and return them.

    A shared Variable is returned once and taken out of the first of its places.

    Args:
        node: An object, or a container of objects.
        *filters: At least one; the result is one State, or a tuple with one for each filter.

    Raises:
        MissingFilterError: There is no filter.
        ImmutableNodeError: A match is in a list or tuple, from which nothing can be taken out.
    """
    if not filters:
        raise MissingFilterError("pop")
    search = _Search(tuple([to_predicate(filter_) for filter_ in filters]))
    search.visit(node, ())
    _remove(search.removals)
    states = [State._of(nested_of(group)) for group in search.groups]
    return states[0] if len(states) == 1 else tuple(states)


def _remove(removals: list[tuple[Any, Any]]) -> None:
    # From the end, so that the indices of a List stay right while it shrinks.
    for holder, key in reversed(removals):
        if isinstance(key, int) or not isinstance(holder, GraphNode):
            del holder[key]
        else:
            delattr(holder, key)
