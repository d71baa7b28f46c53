"""What assignments ``self.x = ...`` and ``model.x = ...`` do, when mypy gets to the probe of one."""

from __future__ import annotations

from dataclasses import dataclass

from mypy import nodes
from mypy.nodes import AssignmentStmt, ExpressionStmt, MemberExpr
from mypy.plugin import AttributeContext
from mypy.types import Instance, get_proper_type

from typed_nnx_codegen.facts.marks import self_name_of
from typed_nnx_codegen.facts.probes import begins_empty, checked
from typed_nnx_codegen.facts.targets import own_attributes, statements_of
from typed_nnx_mypy.call import AttributeCheck, StoreCheck
from typed_nnx_mypy.models.history import assignments_to
from typed_nnx_mypy.reporter import Reporter


@dataclass(frozen=True)
class Probe:
    """A call that checks a place.

    Attributes:
        place: Which place, `BEHIND` or `AT_END` of `facts.probes`.
        around: The innermost function or class.
        before: The statements before it in its block.
    """

    place: complex
    around: nodes.FuncDef | nodes.TypeInfo
    before: list[nodes.Statement]


def probe_of(call: nodes.Context, checker: Reporter) -> Probe | None:
    """Return the place that a call checks; None for any other call of the method."""
    around = checker.functions_around[-1]
    if not isinstance(call, nodes.Node) or not isinstance(around, nodes.FuncDef | nodes.TypeInfo):
        return None
    statement = checker.parent(call)
    block, place = statement and checker.parent(statement), checked(statement)
    if (
        place is None
        or not isinstance(statement, ExpressionStmt)
        or not isinstance(block, nodes.Block)
    ):
        return None
    return Probe(place, around, block.body[: block.body.index(statement)])


def attribute_checks(probe: Probe, checker: Reporter) -> list[AttributeCheck]:
    """Return what the assignment does that a check stands behind."""
    statement, owner = probe.before[-1], checker.current_class
    if owner is None or not isinstance(probe.around, nodes.FuncDef):
        return []
    return [
        each
        for name in own_attributes(statement, self_name_of(probe.around))
        if _is_plain(owner, name)
        for each in assignments_to(owner, name, checker)
        if each.statement is statement
    ]


def checks_at_end(function: nodes.FuncDef, checker: Reporter) -> list[AttributeCheck]:
    """Return the attributes that began empty, where a check is at the end of a method."""
    self_name, owner = self_name_of(function), checker.current_class
    return [
        each
        for statement in filter(begins_empty, statements_of(function.body))
        for name in own_attributes(statement, self_name)
        for each in (assignments_to(owner, name, checker) if owner is not None else ())
        if each.statement is statement
    ]


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
