"""All statements below a statement: mypy's own visitors cannot be subclassed in Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mypy.nodes import Decorator, FuncDef, OverloadedFuncDef, OverloadPart, Statement

from typed_nnx_mypy.syntax.statements import blocks_of


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
            return [each for block in blocks_of(statement) for each in block.body]


def _inside_implementation(statement: OverloadedFuncDef) -> list[Statement]:
    found = statement.impl
    return [found.func if isinstance(found, Decorator) else found] if found is not None else []
