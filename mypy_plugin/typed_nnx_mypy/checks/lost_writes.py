"""``nnx-lost-update`` for keys: ``state["w"] = value`` changes the State, and not its model."""

from __future__ import annotations

from collections.abc import Iterator

from mypy import nodes
from mypy.nodes import AssignmentStmt, Expression, FuncDef, IndexExpr, MemberExpr, NameExpr
from mypy.types import Instance

from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.children import descendants
from typed_nnx_codegen.facts.kinds import Kind, kind_of
from typed_nnx_codegen.facts.names import is_named
from typed_nnx_codegen.facts.states import is_state
from typed_nnx_codegen.facts.targets import root_of
from typed_nnx_mypy.call import Call
from typed_nnx_mypy.errorcodes import LOST_UPDATE
from typed_nnx_mypy.registry import on_call
from typed_nnx_mypy.syntax.uses import (
    function_of_statement,
    may_be_used_elsewhere,
    occurrences,
    plain,
    statements_around,
    targets_of,
)


@on_call("State.__setitem__")
def written_keys_are_used(call: Call) -> None:
    """Report ``state[key] = value`` where `state` was made here and nothing uses it after that."""
    target = call.node
    statement = call.checker.parent(target) if isinstance(target, IndexExpr) else None
    if not isinstance(target, IndexExpr) or not isinstance(statement, AssignmentStmt):
        return
    function = function_of_statement(statement, call.checker)
    root = root_of(target)
    if (
        function is None
        or not isinstance(root, NameExpr)
        or not _is_write(statement, root, call.checker)
    ):
        return
    name = plain(root.name)
    if may_be_used_elsewhere(name, function) or not _is_made_once(name, function):
        return
    if call.checker.is_expected_to_fail(statement):
        return
    if not _is_used(name, function, call.checker):
        call.report(
            LOST_UPDATE,
            f"this puts a value into the State `{name}` only, which is not used after this; the "
            f"model does not change. Fix: write it back, nnx.update(model, {name}), or change the "
            "Variable itself, state[key][...] = value",
            target,
        )


def _is_write(statement: nodes.Node, root: Expression | None, checker: Checker) -> bool:
    """Tell whether a statement surely does nothing but put a value into the State at `root`."""
    if not isinstance(statement, AssignmentStmt) or len(statement.lvalues) > 1:
        return False
    target = statement.lvalues[0]
    if not isinstance(target, IndexExpr) or root_of(target) is not root:
        return False
    if target.base is root:
        return True
    found = checker.known_type(target.base)
    return isinstance(found, Instance) and is_state(found.type)


def _is_made_once(name: str, function: FuncDef) -> bool:
    """Tell whether a name only ever stands for a State that the function takes from a model."""
    bindings = [
        node
        for node in descendants(function)
        if isinstance(node, AssignmentStmt)
        and any(plain(each.name) == name for each in targets_of(node))
    ]
    if len(bindings) != 1:
        return False
    value = bindings[0].rvalue
    callee = value.callee if isinstance(value, nodes.CallExpr) else None
    return isinstance(callee, nodes.RefExpr) and is_named(callee.fullname, "state", "split")


def _is_used(name: str, function: FuncDef, checker: Checker) -> bool:
    """Tell whether something may use a State, other than the writes into it."""
    is_written = False
    for place in occurrences(name, function):
        statement = next(statements_around(place, checker), None)
        if statement is None or any(place is each for each in targets_of(statement)):
            continue
        if _is_write(statement, place, checker):
            is_written = True
        elif not any(kind_of(e) in (Kind.VARIABLE, Kind.ARRAY) for e in _types(place, checker)):
            return True  # not only to get at a leaf
        elif _in_loop(place, checker) or is_written:
            root = root_of(statement.lvalues[0]) if isinstance(statement, AssignmentStmt) else None
            is_own = isinstance(root, NameExpr) and plain(root.name) == name
            if not is_own or not _is_write(statement, root, checker):
                return True
    return False


def _types(place: NameExpr, checker: Checker) -> Iterator[Instance]:
    node: Expression = place
    while True:
        above = checker.parent(node)
        if not isinstance(above, IndexExpr | MemberExpr):
            return
        if (above.base if isinstance(above, IndexExpr) else above.expr) is not node:
            return
        node = above
        found = checker.known_type(node)
        if isinstance(found, Instance):
            yield found


def _in_loop(place: NameExpr, checker: Checker) -> bool:
    return any(
        isinstance(each, nodes.ForStmt | nodes.WhileStmt)
        for each in statements_around(place, checker)
    )
