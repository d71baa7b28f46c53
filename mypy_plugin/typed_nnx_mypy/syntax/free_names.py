"""The names that a function takes from the scopes around it, and the nodes that run in it itself."""

from __future__ import annotations

from collections.abc import Iterator

from mypy import nodes
from mypy import patterns as matched
from mypy.nodes import (
    ClassDef,
    Decorator,
    Expression,
    FuncDef,
    LambdaExpr,
    NameExpr,
    Node,
    OverloadedFuncDef,
)

from typed_nnx_mypy.syntax.children import children, descendants

_DEFINITIONS = (ClassDef, Decorator, FuncDef, LambdaExpr, OverloadedFuncDef)


def own_nodes(function: FuncDef | LambdaExpr) -> Iterator[Node]:
    """Yield the nodes of a body, not those of functions and classes that are defined in it."""
    return _own(function.body)


def _own(node: Node) -> Iterator[Node]:
    for child in children(node):
        if not isinstance(child, _DEFINITIONS):
            yield child
            yield from _own(child)


def bound_names(function: FuncDef | LambdaExpr) -> set[str]:
    """Return the names that a function may bind: parameters, targets, definitions, imports.

    Those of functions inside it count too, and names that it declares global or nonlocal.
    """
    found = {argument.variable.name for argument in function.arguments}
    for node in descendants(function.body):
        found.update(_names(node))
    return found


def _names(node: Node) -> Iterator[str]:
    match node:
        case ClassDef() | FuncDef():
            yield node.name
        case nodes.Argument():
            yield node.variable.name
        case nodes.Import():
            yield from ((alias or name).partition(".")[0] for name, alias in node.ids)
        case nodes.ImportFrom():
            yield from (alias or name for name, alias in node.names)
        case _:
            for target in targets(node):
                yield from _named(target)


def targets(node: Node) -> list[Expression]:
    """Return what a statement, an expression or a pattern gives values to."""
    match node:
        case nodes.AssignmentStmt():
            return [*node.lvalues]
        case nodes.OperatorAssignmentStmt():
            return [node.lvalue]
        case nodes.AssignmentExpr():
            return [node.target]
        case nodes.ForStmt():
            return [node.index]
        case nodes.GeneratorExpr() | nodes.DictionaryComprehension():
            return [*node.indices]
        case nodes.WithStmt():
            return [each for each in node.target if each is not None]
        case nodes.TryStmt():
            return [each for each in node.vars if each is not None]
        case nodes.DelStmt():
            return [node.expr]
        case _:
            return _in_pattern(node)


def _in_pattern(node: Node) -> list[Expression]:
    match node:
        case matched.AsPattern():
            name = node.name
        case matched.StarredPattern():
            name = node.capture
        case matched.MappingPattern():
            name = node.rest
        case _:
            return []
    return [name] if name is not None else []


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


def _named(target: Expression) -> Iterator[str]:
    # mypy marks names that are defined again.
    yield from (each.name.rstrip("'") for each in parts(target) if isinstance(each, NameExpr))
