"""What a file assigns to its variables, attributes and keys, and where."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from mypy.nodes import (
    AssignmentExpr,
    AssignmentStmt,
    CallExpr,
    ComparisonExpr,
    DictExpr,
    EllipsisExpr,
    Expression,
    IndexExpr,
    IntExpr,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    Node,
    SliceExpr,
    StarExpr,
    StrExpr,
    TupleExpr,
    Var,
)
from mypy.types import ProperType, TupleType, get_proper_type

from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.syntax.children import descendants
from typed_nnx_mypy.syntax.targets import unwritten_targets

_WRITERS: Final = frozenset(("get", "pop", "setdefault", "update", "replace_by_pure_dict"))
_BY_NAME: Final = frozenset(("hasattr", "getattr", "setattr", "delattr"))


class Value:
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
        inner = self.inner()  # mypy checks the items of a written tuple one by one
        found = checker.type_elsewhere(inner.value) if inner.value is not None else None
        for at in inner.items:
            if not isinstance(found, TupleType) or at >= len(found.items):
                return None
            found = get_proper_type(found.items[at])
        return found

    def inner(self) -> Value:
        """Return the same value as an item of a tuple that is written out."""
        value, items = self.value, list(self.items)
        while items and isinstance(value, TupleExpr) and items[0] < len(value.items):
            if any(isinstance(each, StarExpr) for each in value.items):
                break
            value = value.items[items.pop(0)]
        return Value(self.node, value, tuple(items))

    def has(self, node: Node) -> bool:
        """Tell whether a node is part of the assigned expression, which is read before."""
        if self.value is None or node.line < self.node.line:
            return False
        last = self.value.end_line
        if last is not None and node.line > last:
            return False
        return any(each is node for each in (self.value, *descendants(self.value)))


class File:
    """What is assigned in a file.

    Args:
        tree: The file.
    """

    def __init__(self, tree: MypyFile) -> None:
        self.tree: Final = tree
        self.seen: Final[set[Node]] = set()
        self.of_variable: Final[defaultdict[Var, list[Value]]] = defaultdict(list)
        self.of_attribute: Final[defaultdict[str, list[Value]]] = defaultdict(list)
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
                    self._bind(target, Value(node, node.rvalue))
            case AssignmentExpr():
                self._bind(node.target, Value(node, node.value))
            case ComparisonExpr():
                self._note_key(node.operands[0])
            case CallExpr():
                self._note_call(node)
            case _:
                for target in unwritten_targets(node):
                    self._bind(target, Value(node, None))

    def _bind(self, target: Expression, value: Value) -> None:
        match target:
            case TupleExpr() | ListExpr():
                for at, item in enumerate(target.items):
                    self._bind(item, Value(value.node, value.value, (*value.items, at)))
            case StarExpr():
                self._bind(target.expr, Value(value.node, None))
            case NameExpr(node=Var() as variable):
                self.of_variable[variable].append(value)
                if variable.info:
                    self.of_attribute[variable.name].append(value)
            case MemberExpr():
                self.of_attribute[target.name].append(value)
                self.set_on[target.name].append(target.expr)
            case IndexExpr(index=EllipsisExpr() | SliceExpr() | TupleExpr()):
                pass  # `kernel[...] = x` sets elements of an array, no key of a State
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


class _Files:
    """What is assigned in the file that was asked about last."""

    def __init__(self) -> None:
        self._last: File | None = None
        self._round: object = None

    def of(self, node: Node, checker: Checker) -> File:
        """Return what is assigned in the file of a node."""
        # The daemon puts new statements and variables into the same file object.
        last, tree = self._last, checker.tree
        if (
            last is None
            or last.tree is not tree
            or node not in last.seen
            or (self._round is not checker.round)
        ):
            last = self._last = File(tree)
            self._round = checker.round
        return last


_FILES: Final = _Files()


def file_of(node: Node, checker: Checker) -> File:
    """Return what is assigned in the file that is being checked, which has a node."""
    return _FILES.of(node, checker)
