"""Assignments ``self.x = ...`` in the methods of a Pytree, made visible to a plugin of mypy.

mypy has no hook on assignment. So when it analyses the class of a Pytree, ``0j.__eq__(1j)`` is put
behind each ``self.x = ...``, and ``0j.__eq__(2j)`` at the end of each method and of the class body:
expressions that are always correct, whose method hook then sees the types that mypy has found so
far. The method of `complex` is one that hardly any code calls.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Final

from mypy import nodes
from mypy.nodes import AssignmentStmt, CallExpr, ComplexExpr, ExpressionStmt, MemberExpr, Statement
from mypy.plugin import ClassDefContext

from typed_nnx_codegen.facts.children import descendants
from typed_nnx_codegen.facts.marks import methods_of, self_name_of
from typed_nnx_codegen.facts.names import runtime_of
from typed_nnx_codegen.facts.targets import blocks_of, own_attributes, statements_of

HOOKED: Final = "builtins.complex.__eq__"
"""The method that the checks call."""
BEHIND: Final = 1j
"""What a check behind an assignment is given."""
AT_END: Final = 2j
"""What a check at the end of a method or a class is given."""


def insert_checks(context: ClassDefContext) -> None:
    """Put a check behind each assignment to an attribute in the methods of a class."""
    definition = context.cls
    if runtime_of(definition.info.module_name):
        return
    for method in methods_of(definition):
        name = self_name_of(method)
        if name and not method.is_property:
            _insert_behind_assignments(method.body, name)
            if any(map(begins_empty, statements_of(method.body))):
                _insert_at_end(method.body, method)
    if any(
        isinstance(each, AssignmentStmt) and each.unanalyzed_type is not None
        for each in definition.defs.body
    ):
        insert_class_check(definition)


def insert_class_check(definition: nodes.ClassDef) -> None:
    """Put a check at the end of a class body."""
    _insert_at_end(definition.defs, definition)


def _insert_behind_assignments(block: nodes.Block, self_name: str) -> None:
    body: list[Statement] = []
    for statement, following in zip_longest(block.body, block.body[1:]):
        body.append(statement)
        is_own = isinstance(statement, AssignmentStmt) and own_attributes(statement, self_name)
        # mypy may analyse a class more than once.
        if is_own and checked(following) != BEHIND:
            body.append(_check(BEHIND, statement))
        for inner in blocks_of(statement):
            _insert_behind_assignments(inner, self_name)
    block.body[:] = body


def _insert_at_end(block: nodes.Block, around: nodes.Node) -> None:
    body = block.body
    # Behind a statement that always leaves, mypy may report that this is never reached.
    leaves = bool(body) and any(
        isinstance(each, nodes.ReturnStmt | nodes.RaiseStmt)
        for each in (body[-1], *descendants(body[-1]))
    )
    at = len(body) - leaves
    if not at or checked(body[at - 1]) != AT_END:
        body.insert(at, _check(AT_END, around))


def begins_empty(statement: Statement) -> bool:
    """Tell whether a statement gives an empty container to what it assigns."""
    return isinstance(statement, AssignmentStmt) and _is_empty(statement.rvalue)


def _is_empty(value: nodes.Expression) -> bool:
    """Tell whether a container may be empty: ``[]``, ``list()``, ``defaultdict(list)``."""
    match value:
        case nodes.ListExpr() | nodes.DictExpr():
            return not value.items
        case CallExpr():
            return all(isinstance(each, nodes.RefExpr) or _is_empty(each) for each in value.args)
        case nodes.ConditionalExpr():
            return _is_empty(value.if_expr) and _is_empty(value.else_expr)
        case _:
            return False


def _check(place: complex, at: nodes.Context) -> ExpressionStmt:
    receiver, argument = ComplexExpr(0j), ComplexExpr(place)
    method = MemberExpr(receiver, "__eq__")
    call = CallExpr(method, [argument], [nodes.ARG_POS], [None])
    check = ExpressionStmt(call)
    for node in (receiver, argument, method, call, check):
        node.set_line(at)
    return check


def checked(statement: nodes.Node | None) -> complex | None:
    """Return the place that a statement checks; None where it is none of our checks."""
    match statement:
        case ExpressionStmt(
            expr=CallExpr(
                callee=MemberExpr(expr=ComplexExpr(value=0j)), args=[ComplexExpr(value=place)]
            )
        ):
            return place
        case _:
            return None
