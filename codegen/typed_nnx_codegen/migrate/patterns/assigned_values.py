"""Assignments of arrays to attributes that hold Variables: they once stored the value."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import derives, member_of
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, targets_of
from typed_nnx_codegen.migrate.analysis.values import (
    Array,
    Constant,
    Instance,
    Plain,
    Value,
    options_of,
    without_none,
)
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.variable_access import setter

_OLD_PACKAGE: Final = "flax.experimental"
_ARITHMETIC: Final = (cst.BinaryOperation, cst.Comparison, cst.UnaryOperation)
_MESSAGE: Final = (
    "`{code}` is a Variable, and in flax 0.8.0 this stored a value in it; today it puts something else "
    "in its place: write `{code}.set_value(x)` unless that is meant"
)


class AssignedValues:
    """Rewrites ``self.mean = x`` to ``self.mean.set_value(x)`` in files of the first versions.

    Until flax 0.8.1 an attribute with a Variable gave its value, and an assignment changed that value.
    Later versions put the array in the place of the Variable, which is lost. Files that import
    `flax.experimental.nnx` are taken to be of the first versions.

    Args:
        file: The file.
    """

    def __init__(self, file: File) -> None:
        self._file = file
        scopes = (file.analysis.scope, *file.analysis.scopes.values())
        self._is_old = any(
            binding.full.startswith(_OLD_PACKAGE)
            for scope in scopes
            for binding in scope.imports.values()
        )
        self._made: set[tuple[object, str]] = set()

    def find(self) -> None:
        """Find the attributes that get a Variable somewhere in the file."""
        if not self._is_old:
            return
        for node in descendants(self._file.analysis.tree):
            if isinstance(node, cst.Assign) and self._is_variable(node.value):
                self._made.update(
                    self._key(target)
                    for each in node.targets
                    for target in targets_of(each.target)
                    if isinstance(target, cst.Attribute)
                )

    def rewritten(self, original: cst.Assign, updated: cst.Assign) -> cst.BaseSmallStatement:
        """Return an assignment with the call that stores the value."""
        if not self._is_old or not self._may_store(original.value):
            return updated
        found = [
            target
            for each in original.targets
            for target in targets_of(each.target)
            if isinstance(target, cst.Attribute) and self._holds_variable(target)
        ]
        if not found or (self._is_constructor() and not _reads(original.value, found)):
            return updated
        if len(original.targets) > 1 or found[0] is not original.targets[0].target:
            self._decide(original, found)
            return updated
        if not self._is_stored(original.value):
            self._decide(original, found)
            return updated
        return cst.Expr(setter(updated.targets[0].target, "set_value", updated.value))

    def _decide(self, node: cst.Assign, found: list[cst.Attribute]) -> None:
        for target in found:
            self._file.decide(node, _MESSAGE.format(code=code_of(target)))

    def _holds_variable(self, target: cst.Attribute) -> bool:
        """Whether an attribute of a Module gets a Variable somewhere."""
        if not self._file.is_a(target.value, "Module"):
            return False
        if self._key(target) in self._made:
            return True
        held = member_of(self._file.value(target.value), target.attr.value)
        return any(derives(option, "Variable") is True for option in options_of(held))

    def _key(self, target: cst.Attribute) -> tuple[object, str]:
        owner = without_none(self._file.value(target.value))
        return owner.cls if isinstance(owner, Instance) else "", target.attr.value

    def _may_store(self, node: cst.BaseExpression) -> bool:
        """Whether an expression may give something else than a Variable or None."""
        if isinstance(node, cst.Name) and node.value == "None":
            return False
        if isinstance(node, _ARITHMETIC):
            return True
        return not self._is_variable(node)

    def _is_variable(self, node: cst.BaseExpression) -> bool:
        """Whether an expression may well give a Variable."""
        found = options_of(self._file.value(node))
        return any(derives(option, "Variable") is True for option in found)

    def _is_stored(self, node: cst.BaseExpression) -> bool:
        """Whether an expression surely gives an array or a number."""
        if isinstance(node, _ARITHMETIC):
            return True
        return all(_is_data(option) for option in options_of(self._file.value(node)))

    def _is_constructor(self) -> bool:
        function = self._file.scope.function
        node = function.node if function is not None else None
        return isinstance(node, cst.FunctionDef) and node.name.value == "__init__"


def _is_data(value: Value) -> bool:
    return isinstance(value, (Array, Constant, Plain))


def _reads(node: cst.BaseExpression, targets: list[cst.Attribute]) -> bool:
    """Whether an expression reads one of the targets."""
    codes = {code_of(target) for target in targets}
    return any(
        isinstance(below, cst.Attribute) and code_of(below) in codes for below in descendants(node)
    )
