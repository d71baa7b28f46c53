"""What operators make of values: sizes stay sizes, code becomes code, arrays broadcast."""

from __future__ import annotations

import operator as python
from collections.abc import Callable
from typing import Final

from typed_nnx_codegen.migrate.linen.domain.dims import Dim, Piece, as_dim, power, product, quotient
from typed_nnx_codegen.migrate.linen.domain.values import (
    Array,
    Code,
    Const,
    OfRank,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Table,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.axes import broadcast
from typed_nnx_codegen.migrate.linen.shapes.contractions import multiplied
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    A_NUMBER,
    code_of,
    common_home,
    dim_of,
    moved_by,
    number_of,
    prefixed,
    shape_of,
    size_value,
    wanted_shape,
)

ON_LITERALS: Final[dict[str, Callable[..., object]]] = {
    "+": python.add,
    "-": python.sub,
    "*": python.mul,
    "/": python.truediv,
    "//": python.floordiv,
    "%": python.mod,
    "**": python.pow,
    "&": python.and_,
    "|": python.or_,
    "^": python.xor,
    "<<": python.lshift,
    ">>": python.rshift,
    "==": python.eq,
    "!=": python.ne,
    "<": python.lt,
    "<=": python.le,
    ">": python.gt,
    ">=": python.ge,
    "is": python.is_,
    "is not": python.is_not,
    "in": lambda item, container: item in container,
    "not in": lambda item, container: item not in container,
    "and": lambda first, second: first and second,
    "or": lambda first, second: first or second,
}
_ON_SIZES: Final[dict[str, Callable[[Dim, Dim], Dim]]] = {
    "+": python.add,
    "-": python.sub,
    "*": python.mul,
    "//": python.floordiv,
    "%": python.mod,
    "/": quotient,
}
_COMPARISONS: Final = frozenset(("==", "!=", "<", "<=", ">", ">="))
_IDENTITIES: Final = frozenset(("is", "is not", "in", "not in", "and", "or"))
_LARGEST_POWER: Final = 64


def binary(operator: str, left: Value, right: Value) -> Value:
    """Return what an operator makes of two values.

    Args:
        operator: As it is written, ``+``, ``//``, ``@``, ``<=``, ``is not``.
        left: The first operand.
        right: The second operand.
    """
    if isinstance(left, Const) and isinstance(right, Const):
        return _of_literals(operator, left, right)
    if operator in _IDENTITIES:
        return _of_identities(operator, left, right)
    if isinstance(left, Array) or isinstance(right, Array):
        return _of_arrays(operator, left, right)
    if isinstance(left, OfRank) or isinstance(right, OfRank):
        return _of_ranks(operator, left, right)
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return left if isinstance(left, Unknown) else right
    if isinstance(left, ShapeOf | Seq) or isinstance(right, ShapeOf | Seq):
        return _of_sequences(operator, left, right)
    return _of_numbers(operator, left, right)


def _of_ranks(operator: str, left: Value, right: Value) -> Value:
    """Return a number of dimensions with a literal number added; anything else is not known."""
    rank, other = (left, right) if isinstance(left, OfRank) else (right, left)
    number = number_of(other)
    if isinstance(rank, OfRank) and number is not None:
        if operator == "+":
            return moved_by(rank, number)
        if operator == "-" and rank is left:
            return moved_by(rank, -number)
    return Unknown("a number made of a rank that is not known")


def _of_literals(operator: str, left: Const, right: Const) -> Value:
    function = ON_LITERALS.get(operator)
    if function is None or not _is_harmless(operator, left.value, right.value):
        return Unknown(f"{left.value!r} {operator} {right.value!r}")
    try:
        return Const(function(left.value, right.value))
    except (TypeError, ValueError, ArithmeticError):
        return Unknown(f"{left.value!r} {operator} {right.value!r}")


def _is_harmless(operator: str, left: object, right: object) -> bool:
    if operator == "**":
        return not isinstance(right, int) or abs(right) <= _LARGEST_POWER
    if operator == "<<":
        return isinstance(right, int) and right <= _LARGEST_POWER
    texts = isinstance(left, str) or isinstance(right, str)
    return operator not in ("*", "%") or not texts


def _of_identities(operator: str, left: Value, right: Value) -> Value:
    if operator in ("is", "is not") and right == Const(None):
        is_argument = isinstance(left, Array) and left.origin
        if not is_argument and isinstance(left, Array | Size | Seq | ShapeOf | Table):
            return Const(operator == "is not")
    items = right.items if isinstance(right, Seq | Table) else None
    if operator in ("in", "not in") and isinstance(left, Const) and items is not None:
        keys = items if isinstance(right, Seq) else [Const(key) for key in items]
        if all(isinstance(key, Const) for key in keys):
            return Const((left in list(keys)) == (operator == "in"))
    return _as_code(operator, left, right)


def _of_arrays(operator: str, left: Value, right: Value) -> Value:
    if operator == "@":
        return Array(multiplied(shape_of(left), shape_of(right)))
    if operator not in ON_LITERALS:
        return Unknown(f"an operator {operator} of arrays")
    shape = broadcast((shape_of(left), shape_of(right)))
    return Array(shape, "bool" if operator in _COMPARISONS else "")


def _of_sequences(operator: str, left: Value, right: Value) -> Value:
    if operator == "+":
        return _joined(left, right)
    if operator == "*":
        items, count = (left, right) if isinstance(left, Seq) else (right, left)
        number = number_of(count)
        if isinstance(items, Seq) and number is not None and number * len(items.items) < 1000:
            return Seq(items.items * number, items.is_list)
    if operator in ("==", "!="):
        first, second = wanted_shape(left), wanted_shape(right)
        known = None not in (*first.dims, *second.dims)
        if first == second and known and first.lead is None:
            return Const(operator == "==")
        if first.rank is not None and second.rank is not None and first.rank != second.rank:
            return Const(operator == "!=")
    return _as_code(operator, left, right)


def _joined(left: Value, right: Value) -> Value:
    if isinstance(left, Seq) and isinstance(right, Seq):
        return Seq(left.items + right.items, left.is_list)
    if isinstance(left, Code) or isinstance(right, Code):
        return _as_code("+", left, right)
    if not isinstance(left, Seq | ShapeOf) or not isinstance(right, Seq | ShapeOf):
        return Unknown("a tuple and something else")
    first, second = wanted_shape(left), wanted_shape(right)
    if first.lead is None:
        return ShapeOf(prefixed(first.dims, second))
    if second.lead is None:
        return ShapeOf(Shape((*first.dims, *second.dims), first.lead))
    return Unknown("two shapes whose ranks are not known")


def _of_numbers(operator: str, left: Value, right: Value) -> Value:
    first, second = _number(left), _number(right)
    if operator == "+" and isinstance(left, Code) and isinstance(right, Code):
        # Two fields may be tuples or texts too, whose order matters.
        return _as_code(operator, left, right)
    if first is None or second is None:
        return _as_code(operator, left, right)
    if operator in _ON_SIZES:
        if operator in ("/", "//", "%") and second.constant == 0:
            return Unknown("a division by zero")
        return size_value(_ON_SIZES[operator](first, second))
    if operator == "**":
        return _power(first, left, right)
    if operator in _COMPARISONS:
        difference = (first - second).constant
        if difference is not None and not _has_floats(left, right):
            return Const(ON_LITERALS[operator](difference, 0))
    return _as_code(operator, left, right)


def _number(value: Value) -> Dim | None:
    """Return a number as a size: one that is no integer is a piece."""
    if isinstance(value, Const) and isinstance(value.value, float):
        text = repr(value.value)
        return as_dim(Piece(f"({text})" if text.startswith("-") else text))
    return dim_of(value)


def _has_floats(*values: Value) -> bool:
    return any(isinstance(v, Const) and isinstance(v.value, float) for v in values)


def _power(first: Dim, left: Value, right: Value) -> Value:
    exponent = number_of(right)
    if exponent is not None and 0 <= exponent <= 4:
        return size_value(product([first] * exponent))
    code = _as_code("**", left, right)
    if isinstance(code, Code):
        return Size(as_dim(Piece(code.code, code.home)))
    second = _number(right)
    return A_NUMBER if second is None else Size(power(first, second))


def _as_code(operator: str, left: Value, right: Value) -> Value:
    first, second = code_of(left), code_of(right)
    if first is None or second is None:
        return Unknown(f"an operator {operator} whose operands are not known")
    home = common_home((first[1], second[1]))
    if home is None:
        return Unknown("names of two objects")
    return Code(f"({first[0]} {operator} {second[0]})", home)


def unary(operator: str, value: Value) -> Value:
    """Return what `-`, `+`, `~` or `not` makes of a value."""
    if isinstance(value, Unknown):
        return value
    if isinstance(value, Const):
        return _of_literal(operator, value)
    if isinstance(value, Array):
        if operator != "not":
            return Array(value.shape, value.dtype)
        return Unknown("whether an array is false")
    dim = _number(value)
    if operator in ("-", "+") and dim is not None:
        return size_value(-dim) if operator == "-" else value
    if operator == "not" and isinstance(value, Seq | Table):
        return Const(not value.items)
    code = code_of(value)
    if code is None:
        return Unknown(f"an operator {operator}")
    return Code(f"({operator}{' ' if operator == 'not' else ''}{code[0]})", code[1])


def _of_literal(operator: str, value: Const) -> Value:
    literal = value.value
    if operator == "not":
        return Const(not literal)
    if not isinstance(literal, int | float):
        return Unknown(f"an operator {operator} of {literal!r}")
    if operator == "-":
        return Const(-literal)
    if operator == "+":
        return Const(+literal)
    return Const(~literal) if isinstance(literal, int) else Unknown("an operator ~ of a float")
