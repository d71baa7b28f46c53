"""The node that each node of a file stands in."""

from __future__ import annotations

from collections.abc import Iterator

from mypy.nodes import MypyFile, Node

from typed_nnx_mypy.syntax.children import children


class Parents:
    """The parents in the file that was asked about last."""

    def __init__(self) -> None:
        self._tree: MypyFile | None = None
        self._found: dict[Node, Node] = {}

    def of(self, node: Node, tree: MypyFile) -> Node | None:
        """Return the node that `node` stands in; None where it is not part of `tree`."""
        # The daemon puts new statements into the same file object, so a node that is missing means
        # that the file was read again.
        if tree is not self._tree or node not in self._found:
            self._tree, self._found = tree, _parents(tree)
        return self._found.get(node)

    def above(self, node: Node, tree: MypyFile) -> Iterator[Node]:
        """Yield the nodes around `node`, nearest first."""
        parent = self.of(node, tree)
        while parent is not None:
            yield parent
            parent = self.of(parent, tree) if parent is not tree else None


def _parents(tree: MypyFile) -> dict[Node, Node]:
    found: dict[Node, Node] = {}
    open_nodes: list[Node] = [tree]
    while open_nodes:
        node = open_nodes.pop()
        for child in children(node):
            found[child] = node
            open_nodes.append(child)
    return found
