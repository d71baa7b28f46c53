"""`graph=` and `graph_updates=`: assertions about object graphs, and their defaults."""

from __future__ import annotations

import threading
from typing import Any

from typed_nnx._core.nodes import LEAF, STATIC, kind_of
from typed_nnx._core.paths import Path
from typed_nnx._core.setting import Setting
from typed_nnx._graph.duplicates import shared_paths
from typed_nnx.errors import SharedReferenceError


class _Modes(threading.local):
    def __init__(self) -> None:
        self.graph: bool = True
        self.graph_updates: bool = True


_modes = _Modes()


class set_graph_mode(Setting):  # lower case: it is called like a function
    """Set the default of ``graph=``, from now on, for a block or for the calls of a function.

    With False, every graph must be a tree: an object reached on two paths is an error.
    """

    __slots__ = ()

    @classmethod
    def _apply(cls, value: bool) -> None:
        _modes.graph = value


class set_graph_updates(Setting):  # lower case: it is called like a function
    """Set the default of ``graph_updates=``, from now on, for a block or for the calls of a function.

    With False, transforms must leave the structure of their arguments as it was.
    """

    __slots__ = ()

    @classmethod
    def _apply(cls, value: bool) -> None:
        _modes.graph_updates = value


def check_tree(function: str, node: Any, graph: bool | None) -> None:
    """Raise if trees are asserted and an object of the graph is reached on two paths.

    Raises:
        SharedReferenceError: With the paths of the object.
    """
    if _modes.graph if graph is None else graph:
        return
    if kind_of(node) in (LEAF, STATIC):
        return
    found: tuple[Any, list[Path]] | None = shared_paths(node)
    if found is not None:
        raise SharedReferenceError(function, type(found[0]).__name__, found[1])


def resolve_modes(graph: bool | None, graph_updates: bool | None) -> tuple[bool, bool]:
    """Return the modes in force: what is given, else the defaults of this thread."""
    allows_graphs = _modes.graph if graph is None else graph
    updates = _modes.graph_updates if graph_updates is None else graph_updates
    return allows_graphs, updates and allows_graphs
