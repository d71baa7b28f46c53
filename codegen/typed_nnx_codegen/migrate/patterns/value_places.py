"""Where a file reads and writes ``v.value`` of Variables, and how each place is rewritten."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import is_repeatable, targets_of
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.variable_contents import Contents

WHOLE: Final = "whole"  # `v[...]`, to read and to write
ALONE: Final = "alone"  # the only target of a statement: `v.set_value(x)`
LEFT: Final = "left"  # only a person can rewrite it
READ: Final = "read"

_WANTED: Final = (
    *(cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Comparison, cst.Call),
    *(cst.For, cst.CompFor, cst.WithItem, cst.Del, cst.MatchValue),
)
_TESTS: Final = frozenset({"callable", "hasattr", "isinstance", "type"})


class ValuePlaces:
    """Finds where a file reads and writes what Variables hold.

    Args:
        file: The file.

    Attributes:
        contents: What the Variables hold.
    """

    def __init__(self, file: File) -> None:
        self.contents = Contents(file)
        self._file = file
        self._places: dict[cst.CSTNode, str] = {}
        # The statements and tests that matter, in the order of the text.
        self._statements: list[cst.CSTNode] = []

    def find(self) -> None:
        """Go through the file; nothing is done where no Variable is read or written."""
        if not any(
            node.attr.value == "value" and self.is_value(node)
            for node in self._file.analysis.known.of(cst.Attribute)
        ):
            return
        self._statements = list(self._file.analysis.nodes.of_any(*_WANTED))
        for node in self._statements:
            self._note(node)
        for node in self._statements:
            self._decide(node)

    # -- what rules ask -----------------------------------------------------------------------

    def is_value(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is ``value`` of something that surely is a Variable."""
        return (
            isinstance(node, cst.Attribute)
            and node.attr.value == "value"
            and self.contents.is_variable(node.value)
        )

    def place(self, node: cst.BaseExpression) -> str:
        """Return how a place is rewritten; `READ` for places that only read."""
        return self._places.get(node, READ)

    def is_whole(self, node: cst.Attribute) -> bool:
        """Whether ``v.value`` becomes ``v[...]``."""
        return self.place(node) == WHOLE or self.contents.holds_array(node.value)

    # -- what is there ------------------------------------------------------------------------

    def _note(self, node: cst.CSTNode) -> None:
        """Note what a statement stores or tests, for what Variables hold."""
        match node:
            case cst.Assign():
                self.contents.note_assignment(node)
                for target in node.targets:
                    if self.is_value(target.target):
                        self._note_write(target.target, node.value)
            case cst.AnnAssign() if self.is_value(node.target):
                self._note_write(node.target, node.value)
            case cst.Comparison() if _tests_none(node):
                self._note_test(node.left)
            case cst.Call(func=cst.Name(value=name), args=[first, *_]) if name in _TESTS:
                self._note_test(first.value)
            case cst.Call(
                func=cst.Attribute(attr=cst.Name(value="set_value")) as function, args=[first]
            ):
                if self.contents.is_variable(function.value):
                    self.contents.note_write(function.value, first.value)

    def _note_write(self, node: cst.BaseExpression, value: cst.BaseExpression | None) -> None:
        if isinstance(node, cst.Attribute) and value is not None:
            self.contents.note_write(node.value, value)

    def _note_test(self, node: cst.BaseExpression) -> None:
        """Note that a program asks what kind of thing a Variable holds."""
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            if node.func.attr.value == "get_value" and self.contents.is_variable(node.func.value):
                self.contents.note_mixed(node.func.value)
        elif isinstance(node, cst.Attribute) and self.is_value(node):
            self.contents.note_mixed(node.value)

    # -- how it is rewritten ------------------------------------------------------------------

    def _decide(self, node: cst.CSTNode) -> None:
        self._decide_items(node)
        match node:
            case cst.Assign():
                self._decide_assign(node)
            case cst.AnnAssign() if node.value is not None and self.is_value(node.target):
                self._places[node.target] = self._in_place(node.target, node.value, LEFT)
            case cst.AugAssign() if self.is_value(node.target):
                self._decide_augmented(node)
            case cst.For() | cst.CompFor():
                self._decide_targets(node.target)
            case cst.WithItem(asname=cst.AsName() as asname):
                self._decide_targets(asname.name)
            case cst.Del():
                self._leave(node.target)
            case cst.MatchValue():
                self._leave(node.value)

    def _decide_items(self, node: cst.CSTNode) -> None:
        """Write items through the Variable, whatever it holds: ``v[i] = x``.

        What `get_value` gives of a dict or list may be a copy.
        """
        targets: list[cst.BaseExpression] = []
        match node:
            case cst.Assign():
                targets = [target.target for target in node.targets]
            case cst.AnnAssign() | cst.AugAssign() | cst.For() | cst.Del():
                targets = [node.target]
        for target in targets:
            for each in targets_of(target):
                if isinstance(each, cst.Subscript) and self.is_value(each.value):
                    self._places[each.value] = WHOLE

    def _leave(self, node: cst.BaseExpression) -> None:
        for target in targets_of(node):
            self._places[target] = LEFT

    def _in_place(
        self, target: cst.BaseExpression, value: cst.BaseExpression, otherwise: str
    ) -> str:
        assert isinstance(target, cst.Attribute)
        return WHOLE if self.contents.is_kept_by(target.value, value) else otherwise

    def _decide_assign(self, node: cst.Assign) -> None:
        only = node.targets[0].target
        if len(node.targets) == 1 and self.is_value(only):
            self._places[only] = self._in_place(only, node.value, ALONE)
            return
        for target in node.targets:
            if self.is_value(target.target):
                found = self._in_place(target.target, node.value, LEFT)
                self._places.setdefault(target.target, found)
            else:
                self._decide_targets(target.target)

    def _decide_targets(self, node: cst.BaseExpression) -> None:
        """Write into arrays in place; leave the others."""
        for target in targets_of(node):
            if isinstance(target, cst.Attribute) and self.is_value(target):
                holds_array = self.contents.holds_array(target.value)
                self._places.setdefault(target, WHOLE if holds_array else LEFT)

    def _decide_augmented(self, node: cst.AugAssign) -> None:
        assert isinstance(node.target, cst.Attribute)
        variable = node.target.value
        if self.contents.is_kept_by_operation(variable, node.operator, node.value):
            place = WHOLE
        else:
            place = ALONE if is_repeatable(variable) else LEFT
        self._places[node.target] = place


def _tests_none(node: cst.Comparison) -> bool:
    return any(
        isinstance(part.operator, (cst.Is, cst.IsNot))
        and isinstance(part.comparator, cst.Name)
        and part.comparator.value == "None"
        for part in node.comparisons
    )
