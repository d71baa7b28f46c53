"""Where markers go: above the statement, or above the constructor where the statement moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.plan import ClassPlan, Mark

# Methods that become part of the constructor.
MOVED_METHODS = frozenset({"setup", "__post_init__"})


class MarkPlaces:
    """The markers of one file.

    Args:
        tree: The file.
        plans: The plans of its modules.
        others: Markers outside of its modules.
    """

    def __init__(
        self, tree: cst.Module, plans: Iterable[ClassPlan], others: Iterable[Mark] = ()
    ) -> None:
        self._at: dict[cst.CSTNode, list[Mark]] = {}
        self._constructors: dict[LinenClass, list[Mark]] = {}
        marks = [(plan, mark) for plan in plans for mark in plan.marks]
        outside = list(others)
        wanted = {id(mark.node) for mark in (*outside, *(mark for _, mark in marks))}
        places = dict(_places(tree, wanted)) if wanted else {}
        for mark in outside:
            self._at.setdefault(places[id(mark.node)][0], []).append(mark)
        for plan, mark in marks:
            statement, moved = places.get(id(mark.node), (plan.cls.node, False))
            if moved:
                self._constructors.setdefault(plan.cls, []).append(mark)
            else:
                self._at.setdefault(statement, []).append(mark)

    def at(self, statement: cst.CSTNode) -> list[Mark]:
        """Return the markers of a statement."""
        return self._at.get(statement, [])

    def above_constructor(self, cls: LinenClass) -> list[Mark]:
        """Return the markers of what moves to the constructor of a module."""
        return self._constructors.get(cls, [])


def _places(tree: cst.Module, wanted: set[int]) -> Iterator[tuple[int, tuple[cst.CSTNode, bool]]]:
    """Yield for each node its statement, and whether that moves to the constructor."""
    waiting: list[tuple[cst.CSTNode, cst.CSTNode, bool, bool]] = [(tree, tree, False, False)]
    while waiting:
        node, statement, moved, in_class = waiting.pop()
        if isinstance(node, cst.BaseStatement) and hasattr(node, "leading_lines"):
            statement = node
            if in_class and isinstance(node, cst.FunctionDef):
                moved = node.name.value in MOVED_METHODS
            elif in_class and isinstance(node, cst.SimpleStatementLine):
                moved = any(isinstance(one, cst.AnnAssign) for one in node.body)
        if id(node) in wanted:
            yield id(node), (statement, moved)
        within = isinstance(node, cst.ClassDef) or (
            in_class and isinstance(node, cst.IndentedBlock)
        )
        waiting += [(child, statement, moved, within) for child in node.children]
