"""What operators and builtins of Python make of values: sizes stay sizes, code becomes code."""

from __future__ import annotations

import math
import operator as python
from collections.abc import Callable, Collection
from functools import reduce
from types import UnionType
from typing import Any, Final

from typed_nnx_codegen.migrate.linen.domain.dims import (
    Combined,
    Dim,
    LeadingSize,
    Piece,
    as_dim,
    bound_by,
    maximum,
    minimum,
    power,
    product,
    quotient,
    whole,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    UNKNOWN,
    Array,
    Code,
    Const,
    OfRank,
    Position,
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
    Arguments,
    Rule,
    by_name,
    code_of,
    dim_of,
    if_known,
    is_none,
    items_of,
    moved_by,
    number_of,
    prefixed,
    rule,
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
_ZERO: Final = Const(0)


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
        return _as_code(operator, left, right)
    if isinstance(left, Array) or isinstance(right, Array):
        return _of_arrays(operator, left, right)
    if isinstance(left, OfRank) or isinstance(right, OfRank):
        return _of_ranks(operator, left, right)
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return _unknown(left if isinstance(left, Unknown) else right)
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
        return Size(as_dim(Piece(code.code, code.binders)))
    second = _number(right)
    return A_NUMBER if second is None else Size(power(first, second))


def _as_code(operator: str, left: Value, right: Value) -> Value:
    first, second = code_of(left), code_of(right)
    if first is None or second is None:
        return Unknown(f"an operator {operator} whose operands are not known")
    return Code(f"({first[0]} {operator} {second[0]})", bound_by(first[1], second[1]))


def unary(operator: str, value: Value) -> Value:
    """Return what `-`, `+`, `~` or `not` makes of a value."""
    if isinstance(value, Unknown):
        return _unknown(value)
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


def _unknown(value: Value) -> Value:
    """Return what an operator makes of an unknown value: of a place another place."""
    return UNKNOWN if isinstance(value, Position) else value


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


_LONGEST_RANGE: Final = 4096


def _length(value: Value) -> Value:
    match value:
        case Array(shape=shape):
            return size_value(shape.axis(0))
        case ShapeOf(shape=shape) if shape.rank is not None:
            return Const(shape.rank)
        case Seq() | Table():
            return Const(len(value.items))
        case Const(value=str() as text):
            return Const(len(text))
        case Code(code=code, binders=binders):
            return Size(as_dim(Piece(f"len({code})", binders)))
    return Unknown("the length of an unknown value")


def _extreme(pick: Callable[..., Dim], number: Callable[..., object]) -> Rule:

    def applied(call: Arguments) -> Value:
        values = call.positional
        if len(values) == 1:
            inner = items_of(values[0])
            if not inner:
                return _called("max" if pick is maximum else "min", values[0])
            values = inner
        if call.named or not values:
            return Unknown("an extreme by a key")
        literal = _literals(values, int | float)
        if literal is not None:
            return Const(number(literal))
        dim = if_known(pick, *map(dim_of, values))
        return Unknown("the extreme of unknown values") if dim is None else size_value(dim)

    return applied


def _literals(values: Collection[Value], kinds: type | UnionType) -> list[Any] | None:
    """Return values as literals of some kinds; None where one of them is another."""
    # `Any`: the kinds say what they are.
    found = [one.value for one in values if isinstance(one, Const) and isinstance(one.value, kinds)]
    return found if len(found) == len(values) else None


def _called(name: str, value: Value) -> Value:
    """Return the call of a builtin as code where its argument is code."""
    code = code_of(value)
    if code is None:
        return Unknown(f"{name} of an unknown value")
    return Code(f"{name}({code[0]})", code[1])


def _converted(function: Callable[[Any], object]) -> Rule:

    def applied(call: Arguments) -> Value:
        value, is_alone = call.get(0), len(call.positional) == 1 and not call.named
        literal = value.value if isinstance(value, Const) else None
        # `float("inf")` stays: its value has no literal.
        takes_any = function.__name__ in ("int", "bool", "str")
        if (
            isinstance(value, Const)
            and is_alone
            and (takes_any or isinstance(literal, int | float))
        ):
            try:
                return Const(function(literal))
            except (TypeError, ValueError, OverflowError):
                return Unknown(f"{function.__name__}({literal!r})")
        dim = dim_of(value)
        if function is int:
            return Unknown("a whole number") if dim is None else size_value(whole(dim))
        if function is float and isinstance(value, Size):
            return value
        if function is abs and isinstance(value, Array):
            return Array(value.shape)
        return _called(function.__name__, value) if is_alone else Unknown("a number")

    return applied


def _summed(values: Value, start: Value = _ZERO) -> Value:
    items = items_of(values)
    if items is None:
        return _called("sum", values)
    return reduce(lambda total, item: binary("+", total, item), items, start)


def _sequence(*, is_list: bool) -> Rule:

    def applied(call: Arguments) -> Value:
        if not call.positional:
            return Seq((), is_list)
        value = call.get(0)
        if isinstance(value, ShapeOf) and value.shape.lead is not None:
            return value
        items = _iterated(value)
        return (
            _called("list" if is_list else "tuple", value) if items is None else Seq(items, is_list)
        )

    return applied


def _iterated(value: Value) -> tuple[Value, ...] | None:
    """Return what going through a value gives, one by one; None where that is not known."""
    items = items_of(value)
    if items is not None:
        return items
    if isinstance(value, Table):
        return tuple(Const(key) for key in value.items)
    if isinstance(value, Array) and value.shape.rank and value.shape.dims[0] is not None:
        count = value.shape.dims[0].constant
        if count is not None and count <= _LONGEST_RANGE:
            row = type(value.shape)(value.shape.dims[1:])
            return (Array(row, value.dtype),) * count
    return None


def _counted(*bounds: Value) -> Value:
    numbers = [number_of(value) for value in bounds]
    known = [number for number in numbers if number is not None]
    if len(known) != len(numbers) or not 1 <= len(known) <= 3 or known[2:] == [0]:
        return Unknown("a range whose bounds are not literal")
    if len(range(*known)) > _LONGEST_RANGE:
        return Unknown("a long range")
    return Seq(tuple(map(Const, range(*known))), is_list=True)


def _zipped(*values: Value) -> Value:
    rows = [_iterated(value) for value in values]
    known = [row for row in rows if row is not None]
    if len(known) != len(rows):
        return Unknown("sequences that are not known item by item")
    return Seq(tuple(map(Seq, zip(*known, strict=False))), is_list=True)


def _enumerated(values: Value, start: int = 0) -> Value:
    items = _iterated(values)
    if items is None:
        return Unknown("a sequence that is not known item by item")
    pairs = (Seq((Const(k), item)) for k, item in enumerate(items, start))
    return Seq(tuple(pairs), is_list=True)


def _in_reverse(values: Value) -> Value:
    items = _iterated(values)
    return _called("reversed", values) if items is None else Seq(items[::-1], is_list=True)


def _in_order(values: Value, reverse: bool = False, key: Value = NONE) -> Value:
    items = _iterated(values) or ()
    if len(items) == 1:
        return Seq(items, is_list=True)
    literals = _literals(items, str) or _literals(items, int | float)
    if not literals or not is_none(key):
        return Unknown("a sorted sequence")
    return Seq(tuple(map(Const, sorted(literals, reverse=reverse))), is_list=True)


def _truth(pick: Callable[[list[bool]], bool]) -> Rule:

    def applied(call: Arguments) -> Value:
        items = _iterated(call.get(0))
        literals = None if items is None else _literals(items, object)
        if literals is None:
            return Unknown("whether unknown values are true")
        return Const(pick(literals))

    return applied


def _on_float(function: Callable[[float], float]) -> Rule:

    def applied(call: Arguments) -> Value:
        value = call.get(0)
        literal = value.value if isinstance(value, Const) else None
        if len(call.positional) == 1 and isinstance(literal, int | float):
            try:
                return Const(function(literal))
            except (ValueError, OverflowError):
                return Unknown("a number outside the domain of a function")
        return A_NUMBER if dim_of(value) is not None else Unknown("a number")

    return applied


def _rounded(function: Callable[[float], int], of_quotient: Callable[[Dim, Dim], Dim]) -> Rule:

    def applied(call: Arguments) -> Value:
        value = call.get(0)
        if isinstance(value, Const) and isinstance(value.value, int | float):
            return Const(function(value.value))
        match value.dim.atom if isinstance(value, Size) else None:
            case Combined(operation="/", parts=(first, second)):
                return size_value(of_quotient(first, second))
        return Unknown("a rounded number")

    return applied


def product_of(value: Value) -> Value:
    """Return the product of the sizes in a shape or tuple."""
    if isinstance(value, ShapeOf) and value.shape.lead is not None:
        return _product_of_open(value.shape)
    items = items_of(value)
    dims = [dim_of(item) for item in items or ()]
    total = if_known(lambda *known: product(known), *dims)
    if items is None or total is None:
        return Unknown("the product of sizes that are not known")
    return size_value(total)


def _product_of_open(shape: Shape) -> Value:
    collapsed = shape.collapsed()
    lead = collapsed.lead
    if lead is None or not lead.argument:
        return Unknown("the product of sizes that are not known")
    leading = as_dim(LeadingSize(lead.argument, lead.start, lead.stop))
    total = if_known(lambda *known: product(known), *lead.front, leading, *collapsed.dims)
    return (
        Unknown("the product of sizes that are not known") if total is None else size_value(total)
    )


def _operation(sign: str) -> Rule:
    return lambda call: binary(sign, call.get(0), call.get(1))


BUILTINS: Final = by_name(
    {
        "len": rule(_length),
        "max": _extreme(maximum, max),
        "min": _extreme(minimum, min),
        **{
            function.__name__: _converted(function)
            for function in (int, float, bool, str, abs, round)
        },
        "sum": rule(_summed),
        "tuple": _sequence(is_list=False),
        "list": _sequence(is_list=True),
        "range": rule(_counted),
        "zip": rule(_zipped),
        "enumerate": rule(
            _enumerated, unclear=Unknown("a sequence that is not known item by item")
        ),
        "reversed": rule(_in_reverse),
        "sorted": rule(_in_order, "values * reverse key", unclear=Unknown("a sorted sequence")),
        "divmod": lambda call: Seq((_operation("//")(call), _operation("%")(call))),
        "pow": _operation("**"),
        "all": _truth(all),
        "any": _truth(any),
    }
)
MATH: Final[dict[str, Rule]] = {
    **{
        function.__name__: _on_float(function)
        for function in (
            math.sqrt,
            math.exp,
            math.log,
            math.log2,
            math.log10,
            math.sin,
            math.cos,
            math.tan,
        )
    },
    "prod": rule(product_of),
    "ceil": _rounded(math.ceil, Dim.ceil_divided),
    "floor": _rounded(math.floor, Dim.__floordiv__),
    "pow": _operation("**"),
}
OPERATOR: Final[dict[str, Rule]] = {
    name: _operation(sign)
    for name, sign in {"mul": "*", "add": "+", "sub": "-", "floordiv": "//", "mod": "%"}.items()
}
