"""Names and attributes that stand for one value only, and States whose keys are changed.

mypy compares types without what the plugin knows of an Optimizer, so a variable that gets two of
them keeps what is known of the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    DelStmt,
    Expression,
    IndexExpr,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    Node,
    OperatorAssignmentStmt,
    TupleExpr,
    Var,
)
from mypy.types import Instance, ProperType

from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.syntax.children import descendants
from typed_nnx_mypy.syntax.constants import assigned_once
from typed_nnx_mypy.syntax.targets import is_same_target

_CHANGES: Final = frozenset(
    {"clear", "pop", "popitem", "replace_by_pure_dict", "setdefault", "update"}
)


def value_of(expression: Expression, checker: Checker) -> CallExpr | None:
    """Return the call whose result a name or an attribute surely is.

    Args:
      expression: The name, the attribute, or the call itself.
      checker: The type checker of its file.
    """
    match expression:
        case CallExpr():
            return expression
        case NameExpr(node=Var() as variable):
            value = assigned_once(variable, checker)
        case MemberExpr():
            value = _assigned_attribute(expression, checker)
        case _:
            return None
    return value if isinstance(value, CallExpr) else None


def _assigned_attribute(attribute: MemberExpr, checker: Checker) -> Expression | None:
    """Return what the file assigns to an attribute, where it does so in one place."""
    owner = checker.known_type(attribute.expr)
    found = [
        (each, target)
        for each in descendants(checker.tree)
        for target in _targets(each)
        if isinstance(target, MemberExpr)
        and target.name == attribute.name
        and not _is_of_other_class(target, owner)
    ]
    if len(found) != 1:
        return None
    statement, target = found[0]
    is_whole = isinstance(statement, AssignmentStmt) and target in statement.lvalues
    return statement.rvalue if isinstance(statement, AssignmentStmt) and is_whole else None


def _is_of_other_class(target: MemberExpr, owner: ProperType | None) -> bool:
    """Tell whether ``self.x = ...`` defines an attribute of a class that `owner` has none of."""
    variable = target.node
    if not isinstance(variable, Var) or not variable.info or not isinstance(owner, Instance):
        return False
    return variable.info not in owner.type.mro and owner.type not in variable.info.mro


def is_changed_in_place(expression: Expression, checker: Checker) -> bool:
    """Tell whether the file changes the keys of a State that a name or an attribute stands for."""
    if not isinstance(expression, NameExpr | MemberExpr):
        return False
    return any(_changes(node, expression) for node in descendants(checker.tree))


def _changes(node: Node, state: NameExpr | MemberExpr) -> bool:
    if isinstance(node, CallExpr) and isinstance(node.callee, MemberExpr):
        if node.callee.name not in _CHANGES:
            return False
        owner = node.callee.expr
        if isinstance(owner, NameExpr) and isinstance(owner.node, MypyFile):
            return any(
                is_same_target(each, state) for each in node.args[:1]
            )  # nnx.update(state, ...)
        return is_same_target(owner, state) or _stands_in_front(state, owner)
    return any(_stands_in_front(state, each) for each in _targets(node))


def _targets(node: Node) -> Iterator[Expression]:
    match node:
        case AssignmentStmt():
            for target in node.lvalues:
                yield from target.items if isinstance(target, TupleExpr | ListExpr) else [target]
        case OperatorAssignmentStmt():
            yield node.lvalue
        case DelStmt():
            yield node.expr
        case _:
            pass


def _stands_in_front(name: Expression, target: Expression) -> bool:
    """Tell whether a target is ``name[...]`` or ``name.x``, at any depth."""
    while isinstance(target, IndexExpr | MemberExpr):
        target = target.base if isinstance(target, IndexExpr) else target.expr
        if is_same_target(target, name):
            return True
    return False
