"""What an attribute was before an assignment: the assignments that came earlier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mypy.nodes import (
    AssignmentStmt,
    Block,
    CallExpr,
    ConditionalExpr,
    Expression,
    ExpressionStmt,
    FuncDef,
    IndexExpr,
    MemberExpr,
    Node,
    OperatorAssignmentStmt,
    SuperExpr,
    TypeInfo,
    Var,
)
from mypy.types import ProperType, UnionType, get_proper_type

from typed_nnx_mypy.assignments import begins_empty
from typed_nnx_mypy.call import AttributeCheck
from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.models.kinds import holds_data, is_plain_container, kind_of
from typed_nnx_mypy.models.marks import (
    all_said,
    is_static_by_form,
    marks_of,
    methods_of,
    self_name_of,
)
from typed_nnx_mypy.models.values import assigned_value, mark_in_call, may_be_marked
from typed_nnx_mypy.syntax.children import descendants
from typed_nnx_mypy.syntax.targets import is_attribute, own_attributes, statements_of

_FILLING = ("append", "extend", "insert", "setdefault", "update")


class Assigned(NamedTuple):
    """An assignment to an attribute of the object.

    Attributes:
        function: The method.
        statement: The assignment.
        value: What is assigned; None where it is unpacked from something.
    """

    function: FuncDef
    statement: AssignmentStmt
    value: Expression | None


def values_of(check: AttributeCheck) -> list[Assigned]:
    """Return the assignments that a check is about, with their values.

    What is assigned from a call without arguments, which may be that of an empty container, is
    checked at the end of the method: there may be several.
    """
    if not check.is_at_end:
        value = assigned_value(check.statement, self_name_of(check.function), check.name)
        return [Assigned(check.function, check.statement, value)]
    return [
        each
        for each in assignments_to(check.owner, check.name)
        if each.function is check.function
        and isinstance(each.value, CallExpr | ConditionalExpr)
        and begins_empty(each.value)
        and check.checker.known_type(each.value) is not None
    ]


def assignments_to(owner: TypeInfo, name: str) -> Iterator[Assigned]:
    """Yield the assignments to an attribute in the methods of a class, not in those of its bases."""
    for method in methods_of(owner.defn):
        self_name = self_name_of(method)
        for statement in statements_of(method.body):
            if isinstance(statement, AssignmentStmt) and name in own_attributes(
                statement, self_name
            ):
                value = assigned_value(statement, self_name, name)
                yield Assigned(method, statement, value)


def is_deleted(owner: TypeInfo, name: str) -> bool:
    """Tell whether a method of the class or a base deletes an attribute."""
    return any(said.is_deleted for _, said in all_said(owner, name))


def is_filled(owner: TypeInfo, name: str) -> bool:
    """Tell whether a method of the class puts something into an attribute: ``self.x.append(...)``."""
    for method in methods_of(owner.defn):
        self_name = self_name_of(method)
        if any(_fills(node, name, self_name) for node in descendants(method.body)):
            return True
    return False


def _fills(node: Node, name: str, self_name: str) -> bool:
    match node:
        case CallExpr(callee=MemberExpr(expr=MemberExpr() as target, name=method)):
            return method in _FILLING and is_attribute(target, self_name, name)
        case AssignmentStmt():
            return any(
                isinstance(each, IndexExpr) and is_attribute(each.base, self_name, name)
                for each in node.lvalues
            )
        case OperatorAssignmentStmt():
            return is_attribute(node.lvalue, self_name, name)
        case _:
            return False


# -- what it may be ---------------------------------------------------------------------------


def may_be_data_before(
    owner: TypeInfo, name: str, function: FuncDef, statement: AssignmentStmt, checker: Checker
) -> bool:
    """Tell whether an attribute may be data when an assignment comes, so that it stays data."""
    for each in assignments_to(owner, name):
        if each.statement is statement:
            continue
        is_before = each.function is not function or each.statement.line < statement.line
        if function.name == "__init__" and each.function is not function:
            continue
        if is_before and not _is_surely_static(each.value, checker):
            return True
    return any(not _is_static_in(base, name) for base in owner.mro[1:])


def _is_surely_static(value: Expression | None, checker: Checker) -> bool:
    if value is None:
        return False
    if is_static_by_form(value) or mark_in_call(value) == "static":
        return True
    known = checker.known_type(value)
    return known is not None and is_static(known) and not may_be_marked(value, checker)


def is_static(found: ProperType) -> bool:
    """Tell whether a value of a type is static without a mark: a plain container is, too."""
    if isinstance(found, UnionType):
        return all(is_static(get_proper_type(each)) for each in found.items)
    return is_plain_container(found) or holds_data(found) is False


def _is_static_in(base: TypeInfo, name: str) -> bool:
    """Tell whether an attribute that a base has is static there, or is not assigned there."""
    if name not in base.names:
        return True
    marks = marks_of(base)
    said = marks.attributes.get(name) if marks is not None else None
    if said is not None and (said.begins_static or not said.is_assigned):
        return True
    node = base.names[name].node
    found = get_proper_type(node.type) if isinstance(node, Var) else None
    if found is None or (is_plain_container(found) and holds_data(found)):
        return False  # it got its mark from a function, or is reported in the base
    return is_static(found)


# -- what it surely is ------------------------------------------------------------------------


def static_since(
    owner: TypeInfo, name: str, function: FuncDef, statement: AssignmentStmt, checker: Checker
) -> str:
    """Say since when an attribute is surely static; empty where it may be data."""
    before = _surely_before(owner, name, function, statement, checker)
    for each in before:
        if each.value is not None and mark_in_call(each.value) == "static":
            return f"since line {each.statement.line}"
    if may_be_data_before(owner, name, function, statement, checker):
        return ""
    if before:
        return f"since line {before[0].statement.line}"
    base = _static_by_init(owner, name, function, statement)
    return by_init(base) if base is not None else ""


def by_init(owner: TypeInfo) -> str:
    """Say that ``__init__`` of a class makes an attribute static."""
    return f"by `__init__` of {owner.name}"


def data_since(
    owner: TypeInfo, name: str, function: FuncDef, statement: AssignmentStmt, checker: Checker
) -> int:
    """Return the line of the assignment that surely made an attribute data; 0 if there is none."""
    before = _surely_before(owner, name, function, statement, checker)
    if function.name != "__init__":
        before += [
            each
            for each in assignments_to(owner, name)
            if each.function.name == "__init__" and each.statement in each.function.body.body
        ]
    for each in before:
        known = checker.known_type(each.value) if each.value is not None else None
        if known is not None and kind_of(known) is not None:
            return each.statement.line
    return 0


def _surely_before(
    owner: TypeInfo, name: str, function: FuncDef, statement: AssignmentStmt, checker: Checker
) -> list[Assigned]:
    """Return the assignments of the same method that have run whenever this one runs."""
    around = {each for each in checker.above(statement) if isinstance(each, Block)}
    return [
        each
        for each in assignments_to(owner, name)
        if each.function is function
        and each.statement.line < statement.line
        and checker.parent(each.statement) in around
    ]


def _static_by_init(
    owner: TypeInfo, name: str, function: FuncDef, statement: AssignmentStmt
) -> TypeInfo | None:
    """Return the class, or the base whose ``__init__`` it calls, that makes an attribute static."""
    for base, said in all_said(owner, name):
        if said.begins_static:
            if base is not owner:
                return base if _calls_base(owner, function, statement) else None
            # In the same method it would have been found before the statement.
            return base if function.name != "__init__" else None
    return None


def _calls_base(owner: TypeInfo, function: FuncDef, statement: AssignmentStmt) -> bool:
    """Tell whether ``super().__init__`` has run when a statement runs."""
    symbol = owner.names.get("__init__")
    if symbol is None:
        return True
    node = symbol.node
    if not isinstance(node, FuncDef):
        return False
    return any(
        isinstance(each, ExpressionStmt)
        and isinstance(each.expr, CallExpr)
        and isinstance(each.expr.callee, SuperExpr)
        and each.expr.callee.name == "__init__"
        and (node is not function or each.line < statement.line)
        for each in node.body.body
    )


def knows_all_bases(owner: TypeInfo) -> bool:
    """Tell whether the source of all bases with attributes was read, so that nothing is hidden."""
    return not any(
        base.fallback_to_any or ((marks := marks_of(base)) is not None and bool(marks.opened_by))
        for base in owner.mro
    )
