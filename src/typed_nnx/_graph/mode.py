"""`graph=` and `graph_updates=`: assertions about object graphs, and their defaults."""

from __future__ import annotations

import threading
from typing import Any

from typed_nnx._core.nodes import LEAF, STATIC, kind_of
from typed_nnx._core.setting import Setting
from typed_nnx._graph.duplicates import check_tree


class _Modes(threading.local):
    """What this thread has set; None is the default."""

    def __init__(self) -> None:
        self.graph: bool | None = None
        self.graph_updates: bool | None = None


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
    """Return the mode of the graph in force: what is given, else the default of this thread."""
    given = _modes.graph if graph is None else graph
    return set_graph_mode._default if given is None else given


def require_tree(function: str, node: Any, graph: bool | None) -> bool:
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
    """Return the modes in force: what is given, else the defaults of this thread."""
    graphs = allows_graphs(graph)
    updates = _modes.graph_updates if graph_updates is None else graph_updates
    if updates is None:
        updates = set_graph_updates.get_default()
    return graphs, updates and graphs
