"""The options ``in_axes`` and ``out_axes``: what is written for each parameter or result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from mypy import nodes, types
from mypy.nodes import Context, Expression, RefExpr
from mypy.types import Instance, get_proper_type

from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.names import is_named
from typed_nnx_mypy.syntax.assigned import assigned_once
from typed_nnx_mypy.syntax.constants import Value, constant_of

_DEPTH: Final = 4
# Not float: what is declared as one may be a whole number.
_WRONG: Final = ("builtins.bool", "builtins.str", "builtins.bytes")


@dataclass(frozen=True)
class Axis:
    """What is written for a parameter or a result, and where."""

    at: Context


class UnknownAxis(Axis):
    """An axis of which nothing is known."""


class Number(Axis):
    """An axis."""


class NoAxis(Axis):
    """None: the same along the axis."""


class CarryAxis(Axis):
    """``nnx.Carry``."""


@dataclass(frozen=True)
class WrongAxis(Axis):
    """What is no axis: a str, a float, a bool.

    Attributes:
        kind: Its type, for messages.
        is_in_filters: Whether it stands in StateAxes, which are looked at where they are made.
    """

    kind: str
    is_in_filters: bool = False


@dataclass(frozen=True)
class AxesByFilter(Axis):
    """``nnx.StateAxes(...)``.

    Attributes:
        pairs: The filters as they are written, with the axes; None where they are not known.
    """

    pairs: tuple[tuple[Expression, Axis], ...] | None


@dataclass(frozen=True)
class AxesRow(Axis):
    """A tuple or list of axes.

    Attributes:
        kind: "tuple" or "list".
        items: The axes.
    """

    kind: str
    items: tuple[Axis, ...]


def axes_of(expression: Expression, checker: Checker) -> Axis:
    """Return what an option for axes says."""
    return _axis(expression, checker, _DEPTH)


def _axis(expression: Expression, checker: Checker, depth: int) -> Axis:
    match expression:
        case nodes.TupleExpr() | nodes.ListExpr():
            return _row(expression, checker, depth)
        case nodes.CallExpr(callee=RefExpr() as callee) if is_named(callee.fullname, "StateAxes"):
            return AxesByFilter(expression, _pairs(expression, checker, depth))
        case RefExpr() if is_named(expression.fullname, "Carry"):
            return CarryAxis(expression)
        case nodes.NameExpr() if depth:
            value = assigned_once(expression.node, checker)
            if value is not None and not isinstance(value, nodes.ListExpr):
                found = _axis(value, checker, depth - 1)
                if not isinstance(found, UnknownAxis):
                    return _moved(found, expression)
        case _:
            pass
    constant = constant_of(expression, checker)
    if constant is not None:
        return _of_value(constant.value, expression)
    return _of_type(checker.type_of(expression), expression)


def _row(row: nodes.TupleExpr | nodes.ListExpr, checker: Checker, depth: int) -> Axis:
    if any(isinstance(each, nodes.StarExpr) for each in row.items):
        return UnknownAxis(row)
    kind = "tuple" if isinstance(row, nodes.TupleExpr) else "list"
    return AxesRow(row, kind, tuple(_axis(each, checker, depth) for each in row.items))


def _pairs(
    call: nodes.CallExpr, checker: Checker, depth: int
) -> tuple[tuple[Expression, Axis], ...] | None:
    if len(call.args) != 1 or not call.arg_kinds[0].is_positional():
        return None
    found: list[tuple[Expression, Axis]] = []
    match call.args[0]:
        case nodes.DictExpr() as given:
            for key, value in given.items:
                if key is None:
                    return None
                found.append((key, _in_filters(_axis(value, checker, depth))))
        case nodes.ListExpr() | nodes.TupleExpr() as given:
            for each in given.items:
                if not isinstance(each, nodes.TupleExpr) or len(each.items) != 2:
                    return None
                found.append((each.items[0], _in_filters(_axis(each.items[1], checker, depth))))
        case _:
            return None
    return tuple(found)


def _moved(axis: Axis, to: Context) -> Axis:
    """Return an axis that a name stands for, with the name as its place."""
    if isinstance(axis, AxesRow):
        return AxesRow(to, axis.kind, tuple(_moved(each, to) for each in axis.items))
    return replace(axis, at=to)


def _of_value(value: Value, at: Expression) -> Axis:
    match value:
        case None:
            return NoAxis(at)
        case bool() | float() | str():
            return WrongAxis(at, type(value).__name__)
        case int():
            return Number(at)
        case tuple():
            return AxesRow(at, "tuple", tuple(_of_value(each, at) for each in value))


def _of_type(found: types.ProperType, at: Expression) -> Axis:
    match found:
        case types.NoneType():
            return NoAxis(at)
        case types.TupleType():
            items = [get_proper_type(each) for each in found.items]
            is_plain = found.partial_fallback.type.fullname == "builtins.tuple"
            if not is_plain or any(isinstance(each, types.UnpackType) for each in items):
                return UnknownAxis(at)
            return AxesRow(at, "tuple", tuple(_of_type(each, at) for each in items))
        case types.TypeType(item=Instance() as item) if is_named(item.type.fullname, "Carry"):
            return CarryAxis(at)
        case types.CallableType(ret_type=result) if found.is_type_obj():
            made = get_proper_type(result)
            is_carry = isinstance(made, Instance) and is_named(made.type.fullname, "Carry")
            return CarryAxis(at) if is_carry else UnknownAxis(at)
        case Instance() if is_named(found.type.fullname, "StateAxes"):
            return AxesByFilter(at, None)
        case Instance() if found.type.fullname == "builtins.int":
            return Number(at)
        case Instance() if found.type.fullname in _WRONG:
            return WrongAxis(at, found.type.name)
        case _:
            return UnknownAxis(at)


def _in_filters(axis: Axis) -> Axis:
    return replace(axis, is_in_filters=True) if isinstance(axis, WrongAxis) else axis


def parts_of(axis: Axis) -> Iterator[Axis]:
    """Yield an axis and all that are in it."""
    yield axis
    match axis:
        case AxesRow():
            inner = axis.items
        case AxesByFilter():
            inner = tuple(each for _, each in axis.pairs or ())
        case _:
            return
    for each in inner:
        yield from parts_of(each)
