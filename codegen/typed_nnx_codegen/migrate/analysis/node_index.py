"""The nodes of a tree by their type: many questions are about the nodes of one type only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TypeVar

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants

N = TypeVar("N", bound=cst.CSTNode)


class NodeIndex:
    """Finds nodes by their type, without going through the tree for each question.

    Args:
        nodes: The nodes, in the order in which they are found.
    """

    def __init__(self, nodes: Iterable[cst.CSTNode]) -> None:
        self._nodes = tuple(nodes)
        self._by_type: dict[type[cst.CSTNode], list[cst.CSTNode]] = {}
        for node in self._nodes:
            self._by_type.setdefault(type(node), []).append(node)

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, node: cst.CSTNode) -> bool:
        """Whether a node is one of them."""
        return id(node) in self._identities

    @cached_property
    def _identities(self) -> frozenset[int]:
        return frozenset(map(id, self._nodes))

    def of(self, kind: type[N]) -> list[N]:
        """Return the nodes of exactly a type."""
        return self._by_type.get(kind, [])  # type: ignore[return-value]  # they are by type

    def of_any(self, *kinds: type[cst.CSTNode]) -> Iterator[cst.CSTNode]:
        """Yield the nodes of exactly some types."""
        wanted = frozenset(kinds)
        return (node for node in self._nodes if type(node) in wanted)


def index_of(tree: cst.CSTNode) -> NodeIndex:
    """Return the nodes of a tree that hold code, in the order of the text."""
    return NodeIndex(descendants(tree))
