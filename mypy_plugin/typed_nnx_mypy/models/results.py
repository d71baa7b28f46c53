"""What a function surely returns, from its type and from its `return` statements.

Most functions that are given to a transform are lambdas or have no annotations, so their type says
nothing: what they are written to return does.
"""

from __future__ import annotations

from functools import reduce

from mypy import nodes
from mypy.nodes import Block, Expression, FuncDef, LambdaExpr, Statement
from mypy.types import UninhabitedType

from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.models import structures
from typed_nnx_mypy.models.structures import Leaf, Nothing, Row, Structure, Table, Unsure
from typed_nnx_mypy.syntax.parameters import Function
from typed_nnx_mypy.syntax.targets import own_nodes


def result_of(function: Function, checker: Checker) -> Structure:
    """Return the structure of what a function returns."""
    if isinstance(function.result, UninhabitedType):
        return Unsure()  # it never returns
    declared = structures.structure_of(function.result)
    match function.definition:
        case LambdaExpr() as definition:
            return structures.both(declared, written(definition.expr(), checker))
        case FuncDef() as definition:
            return structures.both(declared, _returned(definition, checker))
        case None:
            return declared


def written(expression: Expression, checker: Checker) -> Structure:
    """Return the structure of an expression, by its form and by the type that mypy found."""
    match expression:
        case nodes.TupleExpr():
            return Row("tuple", _items(expression.items, checker))
        case nodes.ListExpr():
            return Row("list", _items(expression.items, checker))
        case nodes.DictExpr():
            keys = [key.value for key, _ in expression.items if isinstance(key, nodes.StrExpr)]
            return Table(frozenset(keys) if len(keys) == len(expression.items) else None)
        case nodes.IntExpr():
            return Leaf("int", "int")
        case nodes.FloatExpr():
            return Leaf("float", "float")
        case nodes.UnaryExpr(op="-" | "+"):
            return written(expression.expr, checker)
        case nodes.NameExpr(fullname="builtins.None"):
            return Nothing()
        case nodes.NameExpr(fullname="builtins.True" | "builtins.False"):
            return Leaf("bool", "bool")
        case _:
            # Only what is known already: it may stand in another function than the check.
            found = checker.known_type(expression)
            return structures.structure_of(found) if found is not None else Unsure()


def _items(items: list[Expression], checker: Checker) -> tuple[Structure, ...] | None:
    if any(isinstance(each, nodes.StarExpr) for each in items):
        return None
    return tuple(written(each, checker) for each in items)


# -- functions --------------------------------------------------------------------------------


def _returned(function: FuncDef, checker: Checker) -> Structure:
    if function.is_generator or function.is_coroutine or function.is_async_generator:
        return Unsure()
    if function.info and all(map(_is_nothing, function.body.body)):
        return Unsure()  # a subclass says what it does
    inside = own_nodes(function)
    values = [each.expr for each in inside if isinstance(each, nodes.ReturnStmt)]
    if _may_end(function.body):
        if any(isinstance(each, nodes.RaiseStmt | nodes.WhileStmt) for each in inside):
            return Unsure()  # it may never come to its end
        values.append(None)
    found = [written(each, checker) if each is not None else Nothing() for each in values]
    return reduce(structures.either, found) if found else Unsure()


def _is_nothing(statement: Statement) -> bool:
    match statement:
        case nodes.PassStmt():
            return True
        case nodes.ExpressionStmt(expr=nodes.StrExpr() | nodes.EllipsisExpr()):
            return True
        case _:
            return False


def _may_end(block: Block) -> bool:
    """Tell whether a block may come to its end, so that what follows it is run."""
    return not block.body or _may_continue(block.body[-1])


def _may_continue(statement: Statement) -> bool:
    match statement:
        case nodes.ReturnStmt() | nodes.RaiseStmt():
            return False
        case nodes.IfStmt(else_body=Block() as other):
            return any(map(_may_end, statement.body)) or _may_end(other)
        case nodes.WithStmt():
            return _may_end(statement.body)
        case nodes.TryStmt(finally_body=None, else_body=None):
            return _may_end(statement.body) or any(map(_may_end, statement.handlers))
        case _:
            return True
