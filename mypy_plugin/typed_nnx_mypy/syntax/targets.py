"""What statements give values to: targets, and which of them are the same."""

from __future__ import annotations

from mypy.nodes import (
    DelStmt,
    Expression,
    ForStmt,
    GeneratorExpr,
    MemberExpr,
    NameExpr,
    Node,
    OperatorAssignmentStmt,
    TryStmt,
    Var,
    WithStmt,
)
from mypy.patterns import AsPattern, MappingPattern, StarredPattern


def unwritten_targets(node: Node) -> list[Expression]:
    """Return what a node gives values that are not written as such: all but assignments."""
    match node:
        case OperatorAssignmentStmt():
            return [node.lvalue]
        case ForStmt():
            return [node.index]
        case GeneratorExpr():
            return list(node.indices)
        case WithStmt():
            return [each for each in node.target if each is not None]
        case DelStmt():
            return [node.expr]
        case TryStmt():
            return [each for each in node.vars if each is not None]
        case AsPattern():
            return [node.name] if node.name is not None else []
        case StarredPattern():
            return [node.capture] if node.capture is not None else []
        case MappingPattern():
            return [node.rest] if node.rest is not None else []
        case _:
            return []


def is_same_target(one: Expression, other: Expression) -> bool:
    """Tell whether two targets are one variable, or attributes of one name."""
    match one, other:
        case NameExpr(), NameExpr():
            return one.node is other.node
        case MemberExpr(), MemberExpr():
            return one.name == other.name
        case _:
            return False


def is_self(expression: Expression) -> bool:
    """Tell whether an expression is the object that a method is called on."""
    return (
        isinstance(expression, NameExpr)
        and isinstance(expression.node, Var)
        and expression.node.is_self
    )
