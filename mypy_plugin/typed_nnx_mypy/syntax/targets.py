"""What statements give values to: targets, and which of them are the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mypy import nodes
from mypy.nodes import Expression, MemberExpr, NameExpr, Node, Var
from mypy.patterns import AsPattern, MappingPattern, StarredPattern

# By dictionary, since this is asked of every node of a file.
_UNWRITTEN: Final[dict[type[Node], str]] = {
    nodes.OperatorAssignmentStmt: "lvalue",
    nodes.ForStmt: "index",
    nodes.GeneratorExpr: "indices",
    nodes.DictionaryComprehension: "indices",
    nodes.WithStmt: "target",
    nodes.DelStmt: "expr",
    nodes.TryStmt: "vars",
    AsPattern: "name",
    StarredPattern: "capture",
    MappingPattern: "rest",
}
_WRITTEN: Final[dict[type[Node], str]] = {
    nodes.AssignmentStmt: "lvalues",
    nodes.AssignmentExpr: "target",
}


def targets(node: Node) -> list[Expression]:
    """Return what a statement, an expression or a pattern gives values to."""
    return _targets(node, _WRITTEN) or _targets(node, _UNWRITTEN)


def unwritten_targets(node: Node) -> list[Expression]:
    """Return what a node gives values that are not written as such: all but assignments."""
    return _targets(node, _UNWRITTEN)


def _targets(node: Node, places: dict[type[Node], str]) -> list[Expression]:
    place = places.get(type(node))
    if place is None:
        return []
    value: Expression | list[Expression | None] | None = getattr(node, place)
    return [each for each in (value if isinstance(value, list) else [value]) if each is not None]


def parts(target: Expression) -> Iterator[Expression]:
    """Yield the single targets in one that may be a tuple or a list of them."""
    match target:
        case nodes.TupleExpr() | nodes.ListExpr():
            for item in target.items:
                yield from parts(item)
        case nodes.StarExpr():
            yield from parts(target.expr)
        case _:
            yield target


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
