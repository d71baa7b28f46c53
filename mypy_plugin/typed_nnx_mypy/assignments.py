"""Assignments ``self.x = ...`` in the methods of a Pytree, made visible to the plugin.

mypy has no hook on assignment. So when it analyses the class of a Pytree, ``0j.__eq__(1j)`` is put
behind each ``self.x = ...``, and ``0j.__eq__(2j)`` at the end of each method and of the class body:
expressions that are always correct, whose method hook then sees the types that mypy has found so
far. The method of `complex` is one that hardly any code calls.
"""

from __future__ import annotations

from itertools import pairwise, zip_longest
from typing import Final

from mypy import nodes
from mypy.nodes import AssignmentStmt, CallExpr, ComplexExpr, ExpressionStmt, MemberExpr, Statement
from mypy.plugin import AttributeContext, ClassDefContext
from mypy.types import Instance, get_proper_type

from typed_nnx_mypy.call import AttributeCheck, ClassCheck, StoreCheck
from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.models.history import assignments_to
from typed_nnx_mypy.models.marks import methods_of, self_name_of
from typed_nnx_mypy.names import runtime_of
from typed_nnx_mypy.syntax.children import descendants
from typed_nnx_mypy.syntax.targets import blocks_of, own_attributes, statements_of

HOOKED: Final = "builtins.complex.__eq__"
_BEHIND: Final = 1j
_AT_END: Final = 2j


# -- putting the checks in --------------------------------------------------------------------


def insert_checks(context: ClassDefContext) -> None:
    """Put a check behind each assignment to an attribute in the methods of a class."""
    definition = context.cls
    if runtime_of(definition.info.module_name):
        return
    for method in methods_of(definition):
        name = self_name_of(method)
        if name and not method.is_property:
            _insert_behind_assignments(method.body, name)
            if any(map(_begins_empty, statements_of(method.body))):
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
        if is_own and _checked(following) != _BEHIND:
            body.append(_check(_BEHIND, statement))
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
    if not at or _checked(body[at - 1]) != _AT_END:
        body.insert(at, _check(_AT_END, around))


def _begins_empty(statement: Statement) -> bool:
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


def _checked(statement: nodes.Node | None) -> complex | None:
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


# -- the checks, when mypy gets there ---------------------------------------------------------


def attribute_checks(call: nodes.Context, checker: Checker) -> list[AttributeCheck]:
    """Return what the assignment does that a check stands behind; nothing for other calls."""
    block, owner = _block_of(call, _BEHIND, checker), checker.current_class
    if block is None or owner is None:
        return []
    check = checker.parent(call) if isinstance(call, CallExpr) else None
    statement = next(before for before, each in pairwise(block.body) if each is check)
    function = checker.function_around(statement)
    if not isinstance(function, nodes.FuncDef):
        return []
    return [
        each
        for name in own_attributes(statement, self_name_of(function))
        if _is_plain(owner, name)
        for each in assignments_to(owner, name, checker)
        if each.statement is statement
    ]


def checks_at_end(call: nodes.Context, checker: Checker) -> list[AttributeCheck]:
    """Return the attributes that began empty, where a check is at the end of a method."""
    block, owner = _block_of(call, _AT_END, checker), checker.current_class
    function = checker.parent(block) if block is not None else None
    if owner is None or not isinstance(function, nodes.FuncDef):
        return []
    self_name, empty = self_name_of(function), filter(_begins_empty, statements_of(function.body))
    return [
        each
        for statement in empty
        for name in own_attributes(statement, self_name)
        for each in assignments_to(owner, name, checker)
        if each.statement is statement
    ]


def class_check(call: nodes.Context, checker: Checker) -> ClassCheck | None:
    """Return what the check of a class sees; None for any other call of the method."""
    block = _block_of(call, _AT_END, checker)
    around = checker.parent(block) if block is not None else None
    return ClassCheck(checker, around.info) if isinstance(around, nodes.ClassDef) else None


def _block_of(call: nodes.Context, place: complex, checker: Checker) -> nodes.Block | None:
    """Return the block in which a call checks a place; None for any other call of the method."""
    check = checker.parent(call) if isinstance(call, CallExpr) else None
    block = checker.parent(check) if check is not None else None
    return block if isinstance(block, nodes.Block) and _checked(check) == place else None


def _is_plain(owner: nodes.TypeInfo, name: str) -> bool:
    """Tell whether an attribute is no property."""
    found = (base.names[name].node for base in owner.mro if name in base.names)
    return not any(isinstance(each, nodes.Decorator | nodes.OverloadedFuncDef) for each in found)


def store_check(context: AttributeContext, checker: Checker) -> StoreCheck | None:
    """Return what is known of ``model.x = ...``; None of ``self.x = ...`` and of reading."""
    target, receiver = context.context, get_proper_type(context.type)
    if not context.is_lvalue or not isinstance(target, MemberExpr):
        return None
    statement = checker.parent(target)
    if not isinstance(statement, AssignmentStmt) or not isinstance(receiver, Instance):
        return None
    owner = target.expr.node if isinstance(target.expr, nodes.NameExpr) else None
    if isinstance(owner, nodes.Var) and owner.is_self:
        return None
    return StoreCheck(checker, receiver.type, target.name, statement)
