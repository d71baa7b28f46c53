"""What an attribute was before an assignment: the assignments that came earlier."""

from __future__ import annotations

from mypy import nodes
from mypy.nodes import AssignmentStmt, CallExpr, Expression, FuncDef, MemberExpr, TypeInfo
from mypy.types import ProperType, UnionType, get_proper_type

from typed_nnx_codegen.facts.assigned import file_of
from typed_nnx_codegen.facts.children import descendants
from typed_nnx_codegen.facts.kinds import holds_data, is_plain_container, kind_of
from typed_nnx_codegen.facts.marks import (
    all_said,
    calls_super,
    is_static_by_form,
    marks_of,
    methods_of,
    self_name_of,
)
from typed_nnx_codegen.facts.targets import is_attribute
from typed_nnx_codegen.facts.values import mark_in_call, may_be_marked
from typed_nnx_mypy.call import AttributeCheck
from typed_nnx_mypy.reporter import Reporter

FILLING = ("append", "extend", "insert", "setdefault", "update")


def assignments_to(owner: TypeInfo, name: str, checker: Reporter) -> list[AttributeCheck]:
    """Return the assignments to an attribute in the methods of a class, not in those of its bases."""
    methods = set(methods_of(owner.defn))
    found: list[AttributeCheck] = []
    for each in file_of(checker).of_attribute.get(name, ()):
        target, node = each.owner, each.node
        if target is None or not isinstance(node, AssignmentStmt):
            continue
        function = checker.function_around(node)
        if not isinstance(function, FuncDef) or function not in methods:
            continue
        if is_attribute(target, self_name_of(function), name):
            found.append(AttributeCheck(checker, owner, name, node, function, each.inner()))
    return found


def all_of(check: AttributeCheck) -> list[AttributeCheck]:
    """Return all assignments to an attribute in the methods of the class."""
    return assignments_to(check.owner, check.name, check.checker)


def before(check: AttributeCheck) -> list[AttributeCheck]:
    """Return the assignments of the same method that have run whenever this one runs."""
    above = check.checker.above(check.statement)
    around = {each for each in above if isinstance(each, nodes.Block)}
    return [
        each
        for each in all_of(check)
        if each.function is check.function
        and each.statement.line < check.statement.line
        and check.checker.parent(each.statement) in around
    ]


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


def _fills(node: nodes.Node, name: str, self_name: str) -> bool:
    match node:
        case CallExpr(callee=MemberExpr(expr=MemberExpr() as target, name=method)):
            return method in FILLING and is_attribute(target, self_name, name)
        case AssignmentStmt():
            return any(
                isinstance(each, nodes.IndexExpr) and is_attribute(each.base, self_name, name)
                for each in node.lvalues
            )
        case nodes.OperatorAssignmentStmt():
            return is_attribute(node.lvalue, self_name, name)
        case _:
            return False


# -- what it may be ---------------------------------------------------------------------------


def may_be_data_before(check: AttributeCheck) -> bool:
    """Tell whether an attribute may be data when an assignment comes, so that it stays data."""
    for each in all_of(check):
        is_here = each.function is check.function
        if each.statement is check.statement or (check.function.name == "__init__" and not is_here):
            continue
        is_before = not is_here or each.statement.line < check.statement.line
        if is_before and not _is_surely_static(each.value, check.checker):
            return True
    return any(not _is_static_in(base, check.name) for base in check.owner.mro[1:])


def _is_surely_static(value: Expression | None, checker: Reporter) -> bool:
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
    found = get_proper_type(node.type) if isinstance(node, nodes.Var) else None
    if found is None or (is_plain_container(found) and holds_data(found)):
        return False  # it got its mark from a function, or is reported in the base
    return is_static(found)


# -- what it surely is ------------------------------------------------------------------------


def static_since(check: AttributeCheck) -> str:
    """Say since when an attribute is surely static; empty where it may be data."""
    earlier = before(check)
    for each in earlier:
        if each.value is not None and mark_in_call(each.value) == "static":
            return f"since line {each.statement.line}"
    if may_be_data_before(check):
        return ""
    if earlier:
        return f"since line {earlier[0].statement.line}"
    base = _static_by_init(check)
    return by_init(base) if base is not None else ""


def by_init(owner: TypeInfo) -> str:
    """Say that ``__init__`` of a class makes an attribute static."""
    return f"by `__init__` of {owner.name}"


def data_since(check: AttributeCheck) -> int:
    """Return the line of the assignment that surely made an attribute data; 0 if there is none."""
    earlier = before(check)
    if check.function.name != "__init__":
        earlier += [
            each
            for each in all_of(check)
            if each.function.name == "__init__" and each.statement in each.function.body.body
        ]
    for each in earlier:
        known = check.checker.known_type(each.value) if each.value is not None else None
        if known is not None and kind_of(known) is not None:
            return each.statement.line
    return 0


def _static_by_init(check: AttributeCheck) -> TypeInfo | None:
    """Return the class, or the base whose ``__init__`` it calls, that makes an attribute static."""
    for base, said in all_said(check.owner, check.name):
        if said.begins_static:
            if base is not check.owner:
                return base if _calls_base(check) else None
            # In the same method it would have been found before the statement.
            return base if check.function.name != "__init__" else None
    return None


def _calls_base(check: AttributeCheck) -> bool:
    """Tell whether ``super().__init__`` has run when a statement runs."""
    symbol, marks = check.owner.names.get("__init__"), marks_of(check.owner)
    if symbol is None:
        return True
    if symbol.node is not check.function:
        return marks is not None and marks.calls_super
    earlier = (e for e in check.function.body.body if e.line < check.statement.line)
    return any(map(calls_super, earlier))


def knows_all_bases(owner: TypeInfo) -> bool:
    """Tell whether the source of all bases with attributes was read, so that nothing is hidden."""
    return not any(
        base.fallback_to_any or ((marks := marks_of(base)) is not None and bool(marks.opened_by))
        for base in owner.mro
    )
