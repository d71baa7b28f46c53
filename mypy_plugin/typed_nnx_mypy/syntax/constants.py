"""The values of expressions that are the same in every run: literals, tuples and names of them.

`constant_of` follows Final names, literal types, and names that the file assigns once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from mypy import nodes
from mypy.nodes import Expression, FuncDef, MypyFile, NameExpr, Node, RefExpr, Var
from mypy.types import Instance, LiteralType, NoneType, ProperType, TupleType, get_proper_type

from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.syntax.children import descendants
from typed_nnx_mypy.syntax.targets import parts, targets

Value: TypeAlias = "int | float | str | bool | tuple[Value, ...] | None"

_DEPTH: Final = 4


@dataclass(frozen=True)
class Constant:
    """A value that is known, so that None is told from "not known".

    Attributes:
        value: The value; lists are tuples too.
        expression: Where it is written, for reports.
    """

    value: Value
    expression: Expression


def constant_of(expression: Expression, checker: Checker) -> Constant | None:
    """Return the value that an expression surely has; None where it is not known."""
    return _constant(expression, checker, _DEPTH)


def items_of(expression: Expression, checker: Checker) -> list[Constant] | None:
    """Return the values of an option that takes one value or several, ``0`` and ``(0, "n")``.

    Each has the place where it is written; that of the whole where it comes from a name.

    Returns:
        None where one of them is not known; the empty list for None and for ``()``.
    """
    constant = constant_of(expression, checker)
    if constant is None:
        return None
    match constant.value:
        case None:
            return []
        case tuple() as values:
            written = _written_items(expression, len(values))
            return [Constant(value, at) for value, at in zip(values, written, strict=True)]
        case _:
            return [constant]


def assigned_once(node: Node | None, checker: Checker) -> Expression | None:
    """Return what a variable of the file is assigned, where that happens in one place only.

    The place may be in a loop or a branch, or run later than the use: it is the only value that the
    name ever has. Variables of other files and attributes of objects are not known.
    """
    return _ASSIGNED.of(node, checker) if isinstance(node, Var) else None


def is_rebound(function: FuncDef, checker: Checker) -> bool:
    """Tell whether the name of a function of the file is given to something else, too.

    That is so where the file assigns to it, ``f = jax.jit(f)``, or defines it in several branches.
    """
    return _ASSIGNED.has(function, checker)


def _written_items(expression: Expression, count: int) -> list[Expression]:
    if isinstance(expression, nodes.TupleExpr | nodes.ListExpr) and len(expression.items) == count:
        return list(expression.items)
    return [expression] * count


def _constant(expression: Expression, checker: Checker, depth: int) -> Constant | None:
    match expression:
        case nodes.IntExpr() | nodes.StrExpr() | nodes.FloatExpr():
            return Constant(expression.value, expression)
        case nodes.UnaryExpr(op="-" | "+"):
            inner = _constant(expression.expr, checker, depth)
            if inner is None or not isinstance(inner.value, int | float):
                return None
            return Constant(-inner.value if expression.op == "-" else inner.value, expression)
        case nodes.TupleExpr() | nodes.ListExpr():
            values = _values(expression.items, checker, depth)
            return Constant(values, expression) if values is not None else None
        case NameExpr() | nodes.MemberExpr():
            return _named(expression, checker, depth)
        case _:
            return None


def _values(items: Iterable[Expression], checker: Checker, depth: int) -> tuple[Value, ...] | None:
    found: list[Value] = []
    for item in items:
        constant = _constant(item, checker, depth)
        if constant is None:
            return None
        found.append(constant.value)
    return tuple(found)


_BUILTINS: Final[dict[str, Value]] = {
    "builtins.None": None,
    "builtins.True": True,
    "builtins.False": False,
}


def _named(expression: RefExpr, checker: Checker, depth: int) -> Constant | None:
    if expression.fullname in _BUILTINS:
        return Constant(_BUILTINS[expression.fullname], expression)
    known = _of_type(checker.type_of(expression))
    if known:
        return Constant(known[0], expression)
    value = assigned_once(expression.node, checker) if depth else None
    if value is None or isinstance(value, nodes.ListExpr):
        return None  # a list may get more items
    found = _constant(value, checker, depth - 1)
    return Constant(found.value, expression) if found is not None else None


def _of_type(found: ProperType) -> tuple[Value] | None:
    """Return the only value that a type has, in a tuple of one."""
    if isinstance(found, Instance) and found.last_known_value is not None:
        found = found.last_known_value
    match found:
        case LiteralType():
            # The values of an Enum are texts here, and bytes are escaped.
            name = found.fallback.type.fullname
            is_plain = name in ("builtins.int", "builtins.str", "builtins.bool")
            return (found.value,) if is_plain else None
        case NoneType():
            return (None,)
        case TupleType():
            items = [_of_type(get_proper_type(item)) for item in found.items]
            known = [item[0] for item in items if item is not None]
            return (tuple(known),) if len(known) == len(items) else None
        case _:
            return None


class _Assigned:
    """What the variables of a file are assigned: of the file that was asked about last."""

    def __init__(self) -> None:
        self._tree: MypyFile | None = None
        self._round: object = None
        self._found: dict[Node, Expression | None] = {}

    def of(self, variable: Var, checker: Checker) -> Expression | None:
        """Return the only value of a variable."""
        return self._in(checker).get(variable)

    def has(self, node: Node, checker: Checker) -> bool:
        """Tell whether a variable or function is assigned."""
        return node in self._in(checker)

    def _in(self, checker: Checker) -> dict[Node, Expression | None]:
        # The daemon keeps the file object, and gives it new statements and variables.
        if checker.tree is not self._tree or checker.round is not self._round:
            self._tree, self._round = checker.tree, checker.round
            self._found = _assignments(checker.tree)
        return self._found


_ASSIGNED: Final = _Assigned()


def _assignments(tree: MypyFile) -> dict[Node, Expression | None]:
    found: dict[Node, Expression | None] = {}
    for node in descendants(tree):
        for target, value in _bindings(node):
            found[target] = None if target in found else value  # None where it has several
    return found


def _bindings(node: Node) -> list[tuple[Node, Expression | None]]:
    """Return the variables that a node binds, with the value where it is written there."""
    if isinstance(node, nodes.FuncDef | nodes.LambdaExpr):
        # A parameter has another value in each call.
        bound: list[Node] = [argument.variable for argument in node.arguments]
        if isinstance(node, nodes.FuncDef) and node.original_def is not None:
            bound.append(node.original_def)
        return [(each, None) for each in bound]
    value = node.rvalue if isinstance(node, nodes.AssignmentStmt) else None
    if isinstance(node, nodes.AssignmentExpr):
        value = node.value
    return [
        (name, value if isinstance(target, NameExpr) else None)
        for target in targets(node)
        for name in _names(target)
    ]


def _names(target: Expression) -> list[Node]:
    """Return the variables of a target, of targets inside each other too."""
    names = (each for each in parts(target) if isinstance(each, NameExpr))
    return [each.node for each in names if each.node is not None]
