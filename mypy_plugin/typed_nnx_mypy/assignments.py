"""What assignments ``self.x = ...`` and ``model.x = ...`` do, when mypy gets to the probe of one."""

from __future__ import annotations

from itertools import pairwise

from mypy import nodes
from mypy.nodes import AssignmentStmt, CallExpr, MemberExpr
from mypy.plugin import AttributeContext
from mypy.types import Instance, get_proper_type

from typed_nnx_codegen.facts.marks import self_name_of
from typed_nnx_codegen.facts.probes import AT_END, BEHIND, begins_empty, checked
from typed_nnx_codegen.facts.targets import own_attributes, statements_of
from typed_nnx_mypy.call import AttributeCheck, ClassCheck, StoreCheck
from typed_nnx_mypy.models.history import assignments_to
from typed_nnx_mypy.reporter import Reporter


def attribute_checks(call: nodes.Context, checker: Reporter) -> list[AttributeCheck]:
    """Return what the assignment does that a check stands behind; nothing for other calls."""
    block, owner = _block_of(call, BEHIND, checker), checker.current_class
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


def checks_at_end(call: nodes.Context, checker: Reporter) -> list[AttributeCheck]:
    """Return the attributes that began empty, where a check is at the end of a method."""
    block, owner = _block_of(call, AT_END, checker), checker.current_class
    function = checker.parent(block) if block is not None else None
    if owner is None or not isinstance(function, nodes.FuncDef):
        return []
    self_name, empty = self_name_of(function), filter(begins_empty, statements_of(function.body))
    return [
        each
        for statement in empty
        for name in own_attributes(statement, self_name)
        for each in assignments_to(owner, name, checker)
        if each.statement is statement
    ]


def class_check(call: nodes.Context, checker: Reporter) -> ClassCheck | None:
    """Return what the check of a class sees; None for any other call of the method."""
    block = _block_of(call, AT_END, checker)
    around = checker.parent(block) if block is not None else None
    return ClassCheck(checker, around.info) if isinstance(around, nodes.ClassDef) else None


def _block_of(call: nodes.Context, place: complex, checker: Reporter) -> nodes.Block | None:
    """Return the block in which a call checks a place; None for any other call of the method."""
    check = checker.parent(call) if isinstance(call, CallExpr) else None
    block = checker.parent(check) if check is not None else None
    return block if isinstance(block, nodes.Block) and checked(check) == place else None


def _is_plain(owner: nodes.TypeInfo, name: str) -> bool:
    """Tell whether an attribute is no property."""
    found = (base.names[name].node for base in owner.mro if name in base.names)
    return not any(isinstance(each, nodes.Decorator | nodes.OverloadedFuncDef) for each in found)


def store_check(context: AttributeContext, checker: Reporter) -> StoreCheck | None:
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
