"""Numbers that numpy computes of fields: they are settings of layers as often as factors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.running.frames import Frame
from typed_nnx_codegen.migrate.linen.running.values import Code, Const, Size, Value
from typed_nnx_codegen.migrate.linen.writing.constructor_code import ConstructorCode
from typed_nnx_codegen.migrate.linen.writing.parentheses import operand

# Functions that make a number of numbers.
_ON_NUMBERS: Final = frozenset(
    f"numpy.{name}"
    for name in (
        *("abs", "ceil", "clip", "exp", "floor", "log", "log10", "log2", "maximum", "minimum"),
        *("power", "rint", "round", "sqrt", "square"),
    )
)


def is_number_or_text(literal: object) -> bool:
    """Whether a literal is a number or a text: no truth value, not None."""
    return isinstance(literal, int | float | str) and not isinstance(literal, bool)


def spelled(writer: ConstructorCode, value: Value, node: cst.BaseExpression, frame: Frame) -> Value:
    """Return a literal that an expression computes, so that the constructor has the expression.

    What numpy computes is no number of Python: it has a dtype.
    """
    if not isinstance(value, Const) or not is_number_or_text(value.value):
        return value
    code = writer.of(node, frame)
    return value if code is None else Const(value.value, operand(code))


def computed_number(
    writer: ConstructorCode, name: str, given: Iterable[Value], node: cst.Call, frame: Frame
) -> Code | None:
    """Return what a function of numpy makes of numbers, as code; None for anything else.

    Args:
        writer: Writes expressions for the constructor.
        name: The public name of the function.
        given: Its arguments.
        node: The call.
        frame: Where it is.
    """
    values = list(given)
    if name not in _ON_NUMBERS or not any(isinstance(one, Code | Size) for one in values):
        return None
    if not all(isinstance(one, Const | Size | Code) for one in values):
        return None
    code = writer.of(node, frame)
    return None if code is None else Code(operand(code))
