"""Where nodes of a file stand, which function binds a name, and what is written there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants, dotted, parts_of
from typed_nnx_codegen.migrate.linen.domain.class_plan import Mark
from typed_nnx_codegen.migrate.linen.domain.code import left_of
from typed_nnx_codegen.migrate.linen.domain.names import own_names
from typed_nnx_codegen.migrate.linen.layers import Helper

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


def binder_of(name: cst.Name, places: Places) -> cst.CSTNode | None:
    """Return the function whose parameter or variable a name is; None for names of the module."""
    below: cst.CSTNode = name
    for around in places.around(name):
        if isinstance(around, (cst.FunctionDef, cst.Lambda)):
            # Decorators, defaults and the name itself are code of what is around.
            is_inside = below in (around.body, around.params) and not _is_default(name, places)
            if is_inside and name.value in own_names(around):
                return around
        below = around
    return None


def _is_default(name: cst.Name, places: Places) -> bool:
    below: cst.CSTNode = name
    for around in places.around(name):
        if isinstance(around, cst.Param):
            return below is not around.name
        if isinstance(around, cst.BaseStatement):
            return False
        below = around
    return False


def is_variable(node: cst.Name, places: Places) -> bool:
    """Whether a name is read or bound, not the name of a keyword or an attribute."""
    parent = places.parent(node)
    if isinstance(parent, (cst.Arg, cst.Attribute)):
        return parent.value is node
    return True


def variables_in(root: cst.CSTNode, name: str, places: Places) -> list[cst.Name]:
    """Return where a name is read or bound below a node."""
    return [
        node
        for node in descendants(root)
        if isinstance(node, cst.Name)
        and node.value == name
        and node in places
        and is_variable(node, places)
    ]


def same_variable(
    name: str, home: cst.CSTNode | None, tree: cst.Module, places: Places
) -> list[cst.Name]:
    """Return where a variable is read or bound.

    Args:
        name: Its name.
        home: The function that binds it; None for the module.
        tree: The file.
        places: Where the nodes of the file stand.
    """
    found = variables_in(home if home is not None else tree, name, places)
    return [node for node in found if binder_of(node, places) is home]


@dataclass(eq=False)
class CallerPlan:
    """What is written differently in a file, outside of modules.

    Attributes:
        code: New code for expressions.
        before: Lines to put above statements.
        removed: Statements that go; what stands above them in their place stays.
        marks: What is left to a person.
        helpers: Definitions that the file needs at its top level.
    """

    code: dict[cst.CSTNode, str] = field(default_factory=dict)
    before: dict[cst.CSTNode, list[str]] = field(default_factory=dict)
    removed: set[cst.CSTNode] = field(default_factory=set)
    marks: list[Mark] = field(default_factory=list)
    helpers: dict[Helper, None] = field(default_factory=dict)

    @property
    def nodes(self) -> set[int]:
        """The identities of the nodes that change."""
        return {id(node) for table in (self.code, self.before, self.removed) for node in table}

    @property
    def is_empty(self) -> bool:
        """Whether the file stays as it is."""
        return not (self.code or self.before or self.removed or self.marks)


def around_statement(
    original: cst.CSTNode, after: cst.CSTNode, plan: CallerPlan
) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
    """Return a statement as it is written, with the lines that belong above it.

    Args:
        original: The node before.
        after: The node, rewritten.
        plan: What is written.
    """
    lines = plan.before.get(original)
    if not lines:
        return left_of(original) if original in plan.removed else after
    above: list[cst.CSTNode] = [cst.parse_statement(line) for line in lines]
    leading = tuple(getattr(after, "leading_lines", ()))
    above[0] = above[0].with_changes(leading_lines=leading)
    if original in plan.removed:
        return cst.FlattenSentinel(above)
    return cst.FlattenSentinel([*above, after.with_changes(leading_lines=())])
