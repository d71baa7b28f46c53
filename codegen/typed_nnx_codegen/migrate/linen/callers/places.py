"""Where nodes of a file stand: the statement around, its block, the module class around."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted, parts_of

_WITHOUT_OBJECT: Final = ("classmethod", "staticmethod")
# What may run its parts never, later or several times.
_NOT_ONCE: Final = (
    cst.Lambda,
    cst.FunctionDef,
    cst.ClassDef,
    cst.IfExp,
    cst.BooleanOperation,
    cst.BaseComp,
)


def class_methods(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the methods of a class that have no object: they construct it, for callers."""
    for one in node.body.body if isinstance(node, cst.ClassDef) else ():
        if isinstance(one, cst.FunctionDef) and any(
            dotted(decorator.decorator) in _WITHOUT_OBJECT for decorator in one.decorators
        ):
            yield one


class Places:
    """The nodes of a file by what is around them.

    Args:
        tree: The file.
        classes: The definitions of the modules in it, whose code is not that of callers but for
            methods that have no object.
    """

    def __init__(self, tree: cst.Module, classes: Iterable[cst.ClassDef]) -> None:
        self._parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self._order: dict[cst.CSTNode, int] = {}
        hidden = set(classes)
        waiting: list[cst.CSTNode] = [tree]
        while waiting:
            node = waiting.pop()
            self._order[node] = len(self._order)
            below = list(class_methods(node)) if node in hidden else parts_of(node)
            for child in below:
                self._parents[child] = node
            waiting += reversed(below)

    def __contains__(self, node: cst.CSTNode) -> bool:
        """Whether a node is code of callers."""
        return node in self._order

    def is_before(self, node: cst.CSTNode, other: cst.CSTNode) -> bool:
        """Whether a node stands before another one in the text."""
        return self._order[node] < self._order[other]

    def order(self, node: cst.CSTNode) -> int:
        """Return the position of a node in the text."""
        return self._order[node]

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Return the node around a node."""
        return self._parents.get(node)

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the nodes around a node, the nearest first."""
        current = self._parents.get(node)
        while current is not None:
            yield current
            current = self._parents.get(current)

    def statement(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Return the statement around a node that lines can be put above."""
        for one in (node, *self.around(node)):
            if isinstance(one, cst.BaseStatement) and hasattr(one, "leading_lines"):
                return one
        return None

    def block(self, statement: cst.CSTNode) -> cst.CSTNode | None:
        """Return the block that a statement stands in."""
        parent = self._parents.get(statement)
        return parent if isinstance(parent, (cst.IndentedBlock, cst.Module)) else None

    def function(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Return the function or class around a node; None at the top level."""
        for one in self.around(node):
            if isinstance(one, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
                return one
        return None

    def runs_once(self, node: cst.CSTNode) -> bool:
        """Whether an expression runs exactly once whenever its simple statement does."""
        for one in self.around(node):
            if isinstance(one, cst.SimpleStatementLine):
                return True
            if isinstance(one, (*_NOT_ONCE, cst.BaseStatement)):
                return False
        return False
