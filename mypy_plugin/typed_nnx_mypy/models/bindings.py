"""What a file does with its States besides reading them, and so which reads are sure.

mypy compares types without what the plugin knows of a State, so a variable that gets States of two
models keeps the first. What a variable is known to be counts only where all its values agree.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from mypy.nodes import (
    AssignmentExpr,
    AssignmentStmt,
    CallExpr,
    ComparisonExpr,
    Context,
    DelStmt,
    DictExpr,
    Expression,
    ForStmt,
    GeneratorExpr,
    IndexExpr,
    IntExpr,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    Node,
    OperatorAssignmentStmt,
    StrExpr,
    TryStmt,
    TupleExpr,
    Var,
    WhileStmt,
    WithStmt,
)
from mypy.types import AnyType, CallableType, Instance, ProperType, TupleType, get_proper_type

from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.models.states import StateView, declared_view_of, has_entries, is_state, view_of
from typed_nnx_mypy.names import runtime_of
from typed_nnx_mypy.syntax.children import descendants

_WRITERS: Final = frozenset(("get", "pop", "setdefault", "update", "replace_by_pure_dict"))
_BY_NAME: Final = frozenset(("hasattr", "getattr", "setattr", "delattr"))
_RAISES: Final = frozenset(("raises", "suppress", "assertRaises", "assertRaisesRegex"))


class _Value:
    """What a target of an assignment gets: a value, or one of its items.

    Args:
        node: The assignment.
        value: The assigned expression; None where it is not written as one.
        items: The positions, outermost first.
    """

    def __init__(self, node: Node, value: Expression | None, items: tuple[int, ...] = ()) -> None:
        self.node: Final = node
        self.value: Final = value
        self.items: Final = items

    def type(self, checker: Checker) -> ProperType | None:
        """Return its type; None where mypy has not found it."""
        found = checker.known_type(self.value) if self.value is not None else None
        for at in self.items:
            if not isinstance(found, TupleType) or at >= len(found.items):
                return None
            found = get_proper_type(found.items[at])
        return found


class _File:
    """What is assigned in a file.

    Args:
        tree: The file.
    """

    def __init__(self, tree: MypyFile) -> None:
        self.tree: Final = tree
        self.seen: Final[set[Node]] = set()
        self.of_variable: Final[defaultdict[Var, list[_Value]]] = defaultdict(list)
        self.of_attribute: Final[defaultdict[str, list[_Value]]] = defaultdict(list)
        self.keys: Final[set[str | int]] = set()
        self.computed: Final[list[Expression]] = []
        self.set_on: Final[defaultdict[str, list[Expression]]] = defaultdict(list)
        for node in descendants(tree):
            self.seen.add(node)
            self._look_at(node)

    def _look_at(self, node: Node) -> None:
        match node:
            case AssignmentStmt():
                for target in node.lvalues:
                    self._bind(target, _Value(node, node.rvalue))
            case AssignmentExpr():
                self._bind(node.target, _Value(node, node.value))
            case ComparisonExpr():
                self._note_key(node.operands[0])
            case CallExpr():
                self._note_call(node)
            case _:
                for target in _other_targets(node):
                    self._bind(target, _Value(node, None))

    def _bind(self, target: Expression, value: _Value) -> None:
        match target:
            case TupleExpr() | ListExpr():
                for at, item in enumerate(target.items):
                    self._bind(item, _Value(value.node, value.value, (*value.items, at)))
            case NameExpr(node=Var() as variable):
                self.of_variable[variable].append(value)
                if variable.info:
                    self.of_attribute[variable.name].append(value)
            case MemberExpr():
                self.of_attribute[target.name].append(value)
                self.set_on[target.name].append(target.expr)
            case IndexExpr():
                if not self._note_key(target.index):
                    self.computed.append(target.base)
            case _:
                pass

    def _note_key(self, expression: Expression) -> bool:
        if isinstance(expression, StrExpr | IntExpr):
            self.keys.add(expression.value)
            return True
        return False

    def _note_call(self, call: CallExpr) -> None:
        if isinstance(call.callee, NameExpr) and call.callee.name in _BY_NAME:
            for argument in call.args[1:2]:
                self._note_key(argument)
        if not isinstance(call.callee, MemberExpr) or call.callee.name not in _WRITERS:
            return
        self.keys.update(name for name in call.arg_names if name is not None)
        for argument in call.args:
            if isinstance(argument, DictExpr):
                for key, _ in argument.items:
                    if key is not None:
                        self._note_key(key)
            elif not self._note_key(argument) and call.callee.name == "update":
                self.computed.append(call.callee.expr)


def _other_targets(node: Node) -> list[Expression]:
    """Return what a node gives values that are not written as such."""
    match node:
        case OperatorAssignmentStmt():
            return [node.lvalue]
        case ForStmt():
            return [node.index]
        case GeneratorExpr():
            return list(node.indices)
        case WithStmt():
            return [each for each in node.target if each is not None]
        case DelStmt():
            return [node.expr]
        case _:
            return []


class _Files:
    """What is assigned in the file that was asked about last."""

    def __init__(self) -> None:
        self._last: _File | None = None

    def of(self, node: Node, tree: MypyFile) -> _File:
        """Return what is assigned in the file of a node."""
        # The daemon puts new statements into the same file object.
        if self._last is None or self._last.tree is not tree or node not in self._last.seen:
            self._last = _File(tree)
        return self._last


_FILES: Final = _Files()


# -- what a State is --------------------------------------------------------------------------


def view_at(expression: Expression, found: ProperType, checker: Checker) -> StateView | None:
    """Return what is known of the State that an expression is.

    Args:
      expression: The expression.
      found: Its type.
      checker: The type checker of the file.
    """
    view = view_of(found)
    if view is None or _is_sure(expression, view, checker):
        return view
    return declared_view_of(found)


def is_sure(expression: Expression, view: StateView, checker: Checker) -> bool:
    """Tell whether the State that an expression is can be of no other model, such as a subclass.

    That is so where all its values are seen, and where an annotation says it.
    """
    match expression:
        case NameExpr(node=Var() as variable) if not variable.is_inferred:
            return True
        case MemberExpr() | IndexExpr():
            base = expression.expr if isinstance(expression, MemberExpr) else expression.base
            of_base = checker.known_type(base)
            above = view_at(base, of_base, checker) if of_base is not None else None
            if above is not None:
                return is_sure(base, above, checker)
            attribute = expression.node if isinstance(expression, MemberExpr) else None
            if isinstance(attribute, Var) and not attribute.is_inferred:
                return True
        case _:
            pass
    return _is_sure(expression, view, checker)


def _is_sure(expression: Expression, view: StateView, checker: Checker) -> bool:
    """Tell whether all values that an expression may have agree on what a type says."""
    match expression:
        case CallExpr():
            return has_entries(view.instance) or _returns_as_declared(expression, checker)
        case NameExpr(node=Var() as variable):
            values = [
                each
                for each in _file_of(expression, checker).of_variable[variable]
                if not _comes_later(each.node, expression, checker)
            ]
        case MemberExpr() | IndexExpr():
            base = expression.expr if isinstance(expression, MemberExpr) else expression.base
            of_base = checker.known_type(base)
            above = view_of(of_base) if of_base is not None else None
            if above is not None:
                return _is_sure(base, above, checker)
            if isinstance(of_base, TupleType) and isinstance(base, CallExpr):
                return has_entries(view.instance)
            if isinstance(expression, IndexExpr):
                return False
            values = _file_of(expression, checker).of_attribute[expression.name]
        case _:
            return False
    return bool(values) and all(_agrees(each.type(checker), view) for each in values)


def _comes_later(assignment: Node, access: Node, checker: Checker) -> bool:
    """Tell whether an assignment runs after an access: below it, and in no loop around both."""
    if assignment.line <= access.line:
        return False
    around = list(checker.above(access))
    if checker.function_around(assignment) is not checker.function_around(access):
        return False
    return not any(
        isinstance(each, ForStmt | WhileStmt) and assignment in set(descendants(each))
        for each in around
    )


def _agrees(found: ProperType | None, view: StateView) -> bool:
    other = view_of(found) if found is not None else None
    if other is None or not has_entries(other.instance):
        return False
    return (other.model, other.filter) == (view.model, view.filter)


def _returns_as_declared(call: CallExpr, checker: Checker) -> bool:
    """Tell whether what a call returns is declared, and not joined from what it is given."""
    callee = checker.known_type(call.callee)
    if isinstance(callee, Instance):
        return bool(runtime_of(callee.type.fullname))  # a transformed function
    return isinstance(callee, CallableType) and not callee.variables


def _file_of(node: Node, checker: Checker) -> _File:
    return _FILES.of(node, checker.tree)


# -- what is done to it -----------------------------------------------------------------------


def may_have(key: str | int, access: Context, checker: Checker) -> bool:
    """Tell whether a key may be in a State although its model does not have it, or was tested."""
    if not isinstance(access, Node):
        return True
    file = _file_of(access, checker)
    if key in file.keys or _is_expected_to_fail(access, checker):
        return True
    if isinstance(key, str) and any(_may_be_state(each, checker) for each in file.set_on[key]):
        return True
    root = _root(access)
    return any(
        _may_be_state(each, checker) and (_root(each) == root or _is_argument(each))
        for each in file.computed
    )


def _may_be_state(expression: Expression, checker: Checker) -> bool:
    if isinstance(expression, NameExpr) and isinstance(expression.node, MypyFile):
        return False  # the module of `nnx.update(model, state)`
    found = checker.known_type(expression)
    if found is None or isinstance(found, AnyType):
        # Not checked yet, or not known: the object of a method is no State.
        return not (isinstance(expression, NameExpr) and _is_self(expression))
    return isinstance(found, Instance) and is_state(found.type)


def _root(node: Node) -> Var | str | None:
    """Return the variable, or the attribute of an object, that an expression begins with."""
    while isinstance(node, MemberExpr | IndexExpr):
        above = node.expr if isinstance(node, MemberExpr) else node.base
        if isinstance(node, MemberExpr) and isinstance(above, NameExpr) and _is_self(above):
            return node.name
        node = above
    return node.node if isinstance(node, NameExpr) and isinstance(node.node, Var) else None


def _is_argument(expression: Expression) -> bool:
    root = _root(expression)
    return isinstance(root, Var) and root.is_argument


def _is_self(name: NameExpr) -> bool:
    return isinstance(name.node, Var) and name.node.is_self


def _is_expected_to_fail(access: Node, checker: Checker) -> bool:
    """Tell whether an access stands where an exception is caught or asked for."""
    return any(
        (isinstance(node, TryStmt) and bool(node.handlers))
        or (isinstance(node, WithStmt) and any(map(_asks_for_exception, node.expr)))
        for node in checker.above(access)
    )


def _asks_for_exception(expression: Expression) -> bool:
    callee = expression.callee if isinstance(expression, CallExpr) else None
    return isinstance(callee, NameExpr | MemberExpr) and callee.name in _RAISES
