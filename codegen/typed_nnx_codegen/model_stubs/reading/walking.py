"""All statements below a statement: mypy's own visitors cannot be subclassed in Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mypy.nodes import (
    Block,
    Decorator,
    ForStmt,
    FuncDef,
    IfStmt,
    MatchStmt,
    OverloadedFuncDef,
    OverloadPart,
    Statement,
    TryStmt,
    WhileStmt,
    WithStmt,
)


def walk(statements: Iterable[Statement | OverloadPart]) -> Iterator[Statement]:
    """Yield statements and those in their blocks and functions, in the order of the source."""
    for statement in statements:
        if isinstance(statement, Statement):
            yield statement
        yield from walk(_inside(statement))


def walk_blocks(statements: Iterable[Statement]) -> Iterator[Statement]:
    """Yield statements and those in their blocks, not those in functions."""
    for statement in statements:
        yield statement
        if not isinstance(statement, FuncDef | Decorator | OverloadedFuncDef):
            yield from walk_blocks(_inside(statement))


def _inside(statement: Statement | OverloadPart) -> list[Statement]:
    match statement:
        case FuncDef():
            return statement.body.body
        case Decorator():
            return [statement.func]
        case OverloadedFuncDef():
            return [
                part.func if isinstance(part, Decorator) else part for part in statement.items
            ] + ([] if statement.impl is None else _inside_implementation(statement))
        case _:
            return [each for block in _blocks(statement) for each in block.body]


def _inside_implementation(statement: OverloadedFuncDef) -> list[Statement]:
    found = statement.impl
    return [found.func if isinstance(found, Decorator) else found] if found is not None else []


def _blocks(statement: Statement | OverloadPart) -> list[Block]:
    match statement:
        case Block():
            return [statement]
        case IfStmt():
            found = [*statement.body, statement.else_body]
        case ForStmt() | WhileStmt():
            found = [statement.body, statement.else_body]
        case WithStmt():
            found = [statement.body]
        case TryStmt():
            found = [
                statement.body,
                *statement.handlers,
                statement.else_body,
                statement.finally_body,
            ]
        case MatchStmt():
            found = list(statement.bodies)
        case _:
            found = []
    return [block for block in found if block is not None]
