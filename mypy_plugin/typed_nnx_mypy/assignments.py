"""Assignments ``self.x = ...`` in the methods of a Pytree, made visible to the plugin.

mypy has no hook on assignment. So when it analyses the class of a Pytree, ``0j.__eq__(self.x)`` is
put behind each ``self.x = ...``: an expression that is always correct, whose method hook then sees
the type that the attribute has. The method of `complex` is one that hardly any code calls.

An attribute that begins as ``[]`` gets its type from what is added later, and reading it before
that would be an error. Its check is put at the end of the method.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mypy import nodes
from mypy.nodes import AssignmentStmt, CallExpr, ComplexExpr, ExpressionStmt, MemberExpr, Statement
from mypy.plugin import AttributeContext, ClassDefContext, MethodContext
from mypy.types import Instance, get_proper_type

from typed_nnx_mypy.call import AttributeCheck, ClassCheck, StoreCheck
from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.internals import class_of_body
from typed_nnx_mypy.models.marks import methods_of, self_name_of
from typed_nnx_mypy.names import runtime_of
from typed_nnx_mypy.syntax.children import children
from typed_nnx_mypy.syntax.targets import blocks_of, own_attributes, statements_of

HOOKED: Final = "builtins.complex.__eq__"


# -- putting the checks in --------------------------------------------------------------------


def insert_checks(context: ClassDefContext) -> None:
    """Put a check behind each assignment to an attribute in the methods of a class."""
    definition = context.cls
    if runtime_of(definition.info.module_name):
        return
    for method in methods_of(definition):
        name = self_name_of(method)
        if name and not method.is_property:
            _Insertion(definition.info, name).into(method)
    if any(
        isinstance(each, AssignmentStmt) and each.unanalyzed_type is not None
        for each in definition.defs.body
    ):
        insert_class_check(definition)


def insert_class_check(definition: nodes.ClassDef) -> None:
    """Put ``0j.__eq__(1j)`` at the end of a class body."""
    body = definition.defs.body
    last = body[-1]
    if not isinstance(last, ExpressionStmt) or not _checks_class(last.expr):
        receiver, argument = ComplexExpr(0j), ComplexExpr(1j)
        method = MemberExpr(receiver, "__eq__")
        call = CallExpr(method, [argument], [nodes.ARG_POS], [None])
        check = ExpressionStmt(call)
        for node in (receiver, argument, method, call, check):
            node.set_line(definition)
        body.append(check)


def _checks_class(call: nodes.Context) -> bool:
    return (
        isinstance(call, CallExpr)
        and isinstance(call.callee, MemberExpr)
        and isinstance(call.callee.expr, ComplexExpr)
        and call.callee.expr.value == 0
        and len(call.args) == 1
        and isinstance(call.args[0], ComplexExpr)
        and call.args[0].value == 1j
    )


class _Insertion:
    """Puts checks into one method.

    Args:
        self_name: What the method calls its object.
    """

    def __init__(self, info: nodes.TypeInfo, self_name: str) -> None:
        self._info = info
        self._self = self_name
        self._late: dict[str, AssignmentStmt] = {}

    def into(self, method: nodes.FuncDef) -> None:
        """Put checks into all blocks of the method, not into functions inside it."""
        self._into_block(method.body)
        body = method.body.body
        at = len(body) - 1 if body and isinstance(body[-1], nodes.ReturnStmt) else len(body)
        already = {_checked_name(each) for each in body[max(0, at - len(self._late)) : at]}
        body[at:at] = [
            self._check(name, statement)
            for name, statement in self._late.items()
            if name not in already and self._is_typed(name, method)
        ]

    def _is_typed(self, name: str, method: nodes.FuncDef) -> bool:
        """Tell whether mypy knows the type of an attribute that begins empty, or says it does not.

        In a function without annotations it is silent, unless the attribute is read.
        """
        if method.type is not None:
            return True
        empty = sum(
            name in own_attributes(each, self._self)
            for each in _all_nodes(method.body)
            if isinstance(each, AssignmentStmt) and begins_empty(each.rvalue)
        )
        mentions = sum(
            isinstance(each, MemberExpr)
            and each.name == name
            and isinstance(each.expr, nodes.NameExpr)
            and each.expr.name == self._self
            for each in _all_nodes(method.body)
        )
        return mentions > empty

    def _into_block(self, block: nodes.Block) -> None:
        body: list[Statement] = []
        for statement in block.body:
            body.append(statement)
            if isinstance(statement, AssignmentStmt):
                body.extend(self._after(statement))
            for inner in blocks_of(statement):
                self._into_block(inner)
        if len(body) != len(block.body):
            block.body[:] = _without_repetition(body)

    def _after(self, statement: AssignmentStmt) -> list[Statement]:
        if any(
            isinstance(target, nodes.TupleExpr | nodes.ListExpr) for target in statement.lvalues
        ):
            # Where unpacking fails mypy gives the targets no type, and to read them is an error.
            return []
        names = [name for name in own_attributes(statement, self._self) if self._is_plain(name)]
        if begins_empty(statement.rvalue):
            for name in names:
                self._late.setdefault(name, statement)
            return []
        return [self._check(name, statement) for name in names]

    def _is_plain(self, name: str) -> bool:
        """Tell whether an attribute is no property: to read one may be an error, or a change."""
        for base in self._info.mro:
            symbol = base.names.get(name)
            if symbol is not None and isinstance(
                symbol.node, nodes.Decorator | nodes.OverloadedFuncDef
            ):
                return False
        return True

    def _check(self, name: str, statement: AssignmentStmt) -> ExpressionStmt:
        receiver = ComplexExpr(0j)
        method = MemberExpr(receiver, "__eq__")
        owner = nodes.NameExpr(self._self)
        value = MemberExpr(owner, name)
        call = CallExpr(method, [value], [nodes.ARG_POS], [None])
        check = ExpressionStmt(call)
        for node in (receiver, method, owner, value, call, check):
            node.set_line(statement)
        return check


def _all_nodes(node: nodes.Node) -> Iterator[nodes.Node]:
    """Yield the nodes in a node, without the checks that were put in."""
    for child in children(node):
        if not isinstance(child, ExpressionStmt) or not _checked_name(child):
            yield child
            yield from _all_nodes(child)


def _without_repetition(body: list[Statement]) -> list[Statement]:
    """Leave out the checks that an earlier analysis of the same class has put in."""
    kept: list[Statement] = []
    seen: set[str] = set()
    for statement in body:
        name = _checked_name(statement)
        if not name:
            seen.clear()
        elif name in seen:
            continue
        else:
            seen.add(name)
        kept.append(statement)
    return kept


def _checked_name(statement: Statement) -> str:
    """Return the attribute that a statement checks; empty where it is none of our checks."""
    if isinstance(statement, ExpressionStmt) and isinstance(statement.expr, CallExpr):
        return _name_in(statement.expr)
    return ""


def _name_in(call: CallExpr) -> str:
    callee = call.callee
    if (
        isinstance(callee, MemberExpr)
        and isinstance(callee.expr, ComplexExpr)
        and len(call.args) == 1
        and isinstance(call.args[0], MemberExpr)
    ):
        return call.args[0].name
    return ""


# -- the checks, when mypy gets there ---------------------------------------------------------


def attribute_check(context: MethodContext, checker: Checker) -> AttributeCheck | None:
    """Return what a check that was put in sees; None for any other call of the method."""
    call = context.context
    name = _name_in(call) if isinstance(call, CallExpr) else ""
    if not isinstance(call, CallExpr) or not name or not context.arg_types[0]:
        return None
    function = checker.function_around(call)
    owner = checker.current_class
    if not isinstance(function, nodes.FuncDef) or owner is None:
        return None
    statement, is_at_end = _statement(call, name, function, checker)
    if statement is None:
        return None
    found = get_proper_type(context.arg_types[0][0])
    return AttributeCheck(checker, owner, name, statement, found, function, is_at_end)


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


def class_check(context: MethodContext, checker: Checker) -> ClassCheck | None:
    """Return what the check of a class sees; None for any other call of the method."""
    owner = class_of_body(checker.api)
    if owner is None or not _checks_class(context.context):
        return None
    return ClassCheck(checker, owner)


def _statement(
    call: CallExpr, name: str, function: nodes.FuncDef, checker: Checker
) -> tuple[AssignmentStmt | None, bool]:
    """Return the assignment that a check belongs to, and whether the check stands at the end."""
    above = list(checker.above(call))
    check, block = above[0], above[1]
    if not isinstance(block, nodes.Block) or not isinstance(check, ExpressionStmt):
        return None, False
    before = block.body[: block.body.index(check)]
    while before and _checked_name(before[-1]):
        before.pop()
    self_name = self_name_of(function)
    last = before[-1] if before else None
    if (
        isinstance(last, AssignmentStmt)
        and name in own_attributes(last, self_name)
        and not begins_empty(last.rvalue)
    ):
        return last, False
    for statement in statements_of(function.body):
        if isinstance(statement, AssignmentStmt) and name in own_attributes(statement, self_name):
            return statement, True
    return None, True


# -- statements -------------------------------------------------------------------------------


def begins_empty(value: nodes.Expression) -> bool:
    """Tell whether mypy may take the type of an assigned value from later statements."""
    match value:
        case nodes.ListExpr() | nodes.TupleExpr():
            return isinstance(value, nodes.ListExpr) and not value.items
        case nodes.DictExpr():
            return not value.items
        case nodes.NameExpr():
            return value.name == "None"
        case CallExpr():
            # Whatever is called: `Stack = list` makes `Stack()` an empty list too.
            name = (
                value.callee.name if isinstance(value.callee, nodes.NameExpr | MemberExpr) else ""
            )
            # `nnx.data([])` has the type of what it gets.
            return name == "defaultdict" or not value.args or any(map(begins_empty, value.args))
        case nodes.ConditionalExpr():
            return begins_empty(value.if_expr) and begins_empty(value.else_expr)
        case _:
            return False
