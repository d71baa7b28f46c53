"""Statements in the blocks of statements: mypy's own visitors cannot be subclassed in Python."""

from __future__ import annotations

from collections.abc import Iterator

from mypy.nodes import (
    Block,
    ForStmt,
    IfStmt,
    MatchStmt,
    Statement,
    TryStmt,
    WhileStmt,
    WithStmt,
)


def statements_of(block: Block) -> Iterator[Statement]:
    """Yield the statements of a block and of the blocks in it, not of functions or classes."""
    for statement in block.body:
        yield statement
        for inner in blocks_of(statement):
            yield from statements_of(inner)


def blocks_of(statement: Statement) -> list[Block]:
    """Return the blocks of a statement, not those of functions and classes."""
    match statement:
        case Block():
            found: list[Block | None] = [statement]
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
