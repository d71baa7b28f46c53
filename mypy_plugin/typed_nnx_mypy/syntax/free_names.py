"""The names that a function takes from the scopes around it, and the nodes that run in it itself."""

from __future__ import annotations

from collections.abc import Iterator

from mypy import nodes
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

from typed_nnx_mypy.syntax.children import children, descendants, walk
from typed_nnx_mypy.syntax.targets import parts, targets

_DEFINITIONS = (ClassDef, Decorator, FuncDef, LambdaExpr, OverloadedFuncDef)


def own_nodes(function: FuncDef | LambdaExpr) -> list[Node]:
    """Return the nodes of a body, not those of functions and classes that are defined in it."""
    return walk(children(function.body), _DEFINITIONS)


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


def _named(target: Expression) -> Iterator[str]:
    # mypy marks names that are defined again.
    yield from (each.name.rstrip("'") for each in parts(target) if isinstance(each, NameExpr))
