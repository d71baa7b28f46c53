"""The values of expressions that are the same in every run: literals, tuples and names of them.

`constant_of` follows Final names, literal types, and names that the file assigns once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from mypy import nodes
from mypy.nodes import Expression, NameExpr, RefExpr
from mypy.types import Instance, LiteralType, NoneType, ProperType, TupleType, get_proper_type

from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.syntax.assigned import assigned_once

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
