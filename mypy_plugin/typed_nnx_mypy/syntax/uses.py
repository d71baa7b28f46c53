"""Whether the value that a statement gives to a local name can be used later."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import dropwhile
from typing import Final

from mypy import nodes
from mypy.nodes import AssignmentStmt, ClassDef, ForStmt, FuncDef, LambdaExpr, NameExpr, Node

from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.children import descendants
from typed_nnx_codegen.facts.targets import parts

# What reads local names without naming them.
_READERS: Final = frozenset({"breakpoint", "dir", "eval", "exec", "locals", "vars"})


def is_never_used(statement: AssignmentStmt, checker: Checker) -> bool:
    """Tell whether surely nothing uses the value that a statement gives to a local name.

    It is not sure where the name is used below the statement, in a function inside, or by the next
    turn of a loop.

    Args:
        statement: ``name = value`` in a function.
        checker: The type checker of the file.
    """
    function = function_of_statement(statement, checker)
    target = statement.lvalues[0]
    if function is None or len(statement.lvalues) > 1 or not isinstance(target, NameExpr):
        return False
    name = plain(target.name)
    if name.startswith("_") or may_be_read_after(name, statement, function):
        return False
    return all(
        _begins_anew(name, loop, statement)
        for loop in statements_around(statement, checker)
        if isinstance(loop, ForStmt | nodes.WhileStmt)
    )


def may_be_read_after(name: str, node: Node, function: FuncDef) -> bool:
    """Tell whether a function may read a name after a node in it, but for loops around both."""
    if may_be_used_elsewhere(name, function):
        return True
    bound = {target for each in descendants(function) for target in targets_of(each)}
    reads = {*occurrences(name, function)} - {node, *descendants(node)} - bound
    below = dropwhile(lambda each: each is not node, descendants(function))
    return any(each in reads for each in below)


def function_of_statement(statement: Node, checker: Checker) -> FuncDef | None:
    """Return the function whose local names a statement binds."""
    around = next(
        (
            each
            for each in checker.above(statement)
            if isinstance(each, FuncDef | LambdaExpr | ClassDef)
        ),
        None,
    )
    return around if isinstance(around, FuncDef) else None


def plain(name: str) -> str:
    """Return a name as it is written: mypy marks those that are defined again."""
    return name.rstrip("'")


def occurrences(name: str, within: Node) -> Iterator[NameExpr]:
    """Yield the places where a name stands, in functions inside too."""
    for node in descendants(within):
        if isinstance(node, NameExpr) and plain(node.name) == name:
            yield node


def targets_of(node: Node) -> Iterator[NameExpr]:
    """Yield the names that an assignment gives values to."""
    lvalues = node.lvalues if isinstance(node, AssignmentStmt) else []
    return (each for one in lvalues for each in parts(one) if isinstance(each, NameExpr))


def may_be_used_elsewhere(name: str, function: FuncDef) -> bool:
    """Tell whether a name of a function may be used at a time that its place does not tell.

    In functions, classes and generators inside, as a global name, or by `locals()`.
    """
    for node in descendants(function):
        match node:
            case nodes.GlobalDecl() | nodes.NonlocalDecl():
                if name in node.names:
                    return True
            case nodes.CallExpr(callee=NameExpr(name=called)) if called in _READERS:
                return True
            case FuncDef() | LambdaExpr() if any(e.variable.name == name for e in node.arguments):
                pass  # a name of its own
            case FuncDef() | LambdaExpr() | ClassDef() | nodes.GeneratorExpr():
                if any(True for _ in occurrences(name, node)):
                    return True
            case _:
                pass
    return False


def _begins_anew(name: str, loop: ForStmt | nodes.WhileStmt, statement: AssignmentStmt) -> bool:
    """Tell whether each turn of a loop gives a name a value before it uses it.

    Not so where `statement` does: a loop that only repeats a computation measures its time.
    """
    first = next(occurrences(name, loop), None)
    for each in loop.body.body:
        if isinstance(each, AssignmentStmt) and first in set(targets_of(each)):
            is_free = not any(True for _ in occurrences(name, each.rvalue))
            return is_free and each is not statement
    return False


def statements_around(node: Node, checker: Checker) -> Iterator[nodes.Statement]:
    """Yield the statements around `node` in its function or module, nearest first."""
    for each in checker.above(node):
        if isinstance(each, FuncDef | LambdaExpr | ClassDef):
            return
        if isinstance(each, nodes.Statement) and not isinstance(each, nodes.Block):
            yield each
