"""The values of expressions that are the same in every run: literals, tuples and names of them.

`constant_of` follows Final names, literal types, and names that the file assigns once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from mypy import nodes
from mypy.nodes import Expression, RefExpr
from mypy.types import Instance, LiteralType, NoneType, ProperType, TupleType, get_proper_type

from typed_nnx_codegen.facts.assigned import assigned_once
from typed_nnx_codegen.facts.checker import Checker

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


def resolved(expression: Expression, checker: Checker) -> Expression:
    """Return what a name stands for, where the file assigns it once; a list may get more items."""
    for _ in range(_DEPTH):
        value = assigned_once(expression.node, checker) if isinstance(expression, RefExpr) else None
        if value is None or isinstance(value, nodes.ListExpr):
            break
        expression = value
    return expression


def constant_of(
    expression: Expression, checker: Checker, *, depth: int = _DEPTH
) -> Constant | None:
    """Return the value that an expression surely has; None where it is not known."""
    known: tuple[Value] | None = None
    match resolved(expression, checker):
        case nodes.IntExpr() | nodes.StrExpr() | nodes.FloatExpr() as literal:
            known = (literal.value,)
        case nodes.UnaryExpr(op="-" | "+" as sign, expr=operand) if depth:
            inner = constant_of(operand, checker, depth=depth - 1)
            if inner is not None and isinstance(inner.value, int | float):
                known = (-inner.value if sign == "-" else inner.value,)
        case nodes.TupleExpr(items=items) | nodes.ListExpr(items=items) if depth:
            values = [constant_of(each, checker, depth=depth - 1) for each in items]
            all_known = [each.value for each in values if each is not None]
            known = (tuple(all_known),) if len(all_known) == len(values) else None
        case RefExpr(fullname=name) if name in _BUILTINS:
            known = (_BUILTINS[name],)
        case _ if isinstance(expression, RefExpr):
            known = _of_type(checker.type_of(expression))
        case _:
            pass
    return Constant(known[0], expression) if known is not None else None


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


_BUILTINS: Final[dict[str, Value]] = {
    "builtins.None": None,
    "builtins.True": True,
    "builtins.False": False,
}


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
