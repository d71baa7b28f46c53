"""How a function takes one of its parameters apart: ``a, b = carry``."""

from __future__ import annotations

from collections.abc import Iterator

from mypy import nodes
from mypy.nodes import FuncDef, LambdaExpr, Node

from typed_nnx_mypy.syntax.children import children, descendants
from typed_nnx_mypy.syntax.parameters import Function, Parameter


def unpacked_length(function: Function, parameter: Parameter) -> int | None:
    """Return how many things a parameter surely has in it, since the function unpacks them.

    None where it does not, or where the parameter may have got another value before.
    """
    definition = function.definition
    if not isinstance(definition, FuncDef):
        return None
    bound = len(definition.arguments) - len(function.parameters)
    variable = definition.arguments[bound + function.parameters.index(parameter)].variable
    lengths = [_length(each, variable) for each in definition.body.body]
    if any(target is variable for target in _assigned(definition)):
        return None
    return next((each for each in lengths if each is not None), None)


def _length(statement: Node, variable: Node) -> int | None:
    """Return the length in ``a, b = variable``, as a statement that always runs."""
    match statement:
        case nodes.AssignmentStmt(
            lvalues=[nodes.TupleExpr() | nodes.ListExpr() as target],
            rvalue=nodes.NameExpr(node=value),
        ) if value is variable:
            has_star = any(isinstance(each, nodes.StarExpr) for each in target.items)
            return None if has_star else len(target.items)
        case _:
            return None


def _assigned(definition: FuncDef | LambdaExpr) -> Iterator[Node | None]:
    """Yield what the function assigns to, in functions inside of it too."""
    for node in descendants(definition.body):
        match node:
            case nodes.AssignmentStmt(lvalues=targets):
                yield from (name for target in targets for name in _names(target))
            case nodes.OperatorAssignmentStmt(lvalue=target) | nodes.ForStmt(index=target):
                yield from _names(target)
            case nodes.AssignmentExpr(target=target):
                yield from _names(target)
            case nodes.WithStmt(target=targets):
                yield from (n for target in targets if target is not None for n in _names(target))
            case _:
                pass


def _names(target: Node) -> Iterator[Node | None]:
    if isinstance(target, nodes.NameExpr):
        yield target.node
    elif isinstance(target, nodes.TupleExpr | nodes.ListExpr | nodes.StarExpr):
        for each in children(target):
            yield from _names(each)
