"""Builtins of Python and functions of `math` on sizes and sequences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from typed_nnx_codegen.migrate.linen.domain.dims import Dim, Piece, as_dim, maximum, minimum, whole
from typed_nnx_codegen.migrate.linen.domain.values import (
    Array,
    Code,
    Const,
    Seq,
    ShapeOf,
    Size,
    Table,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    A_NUMBER,
    Arguments,
    Rule,
    code_of,
    dim_of,
    is_none,
    items_of,
    number_of,
    size_value,
)
from typed_nnx_codegen.migrate.linen.shapes.operators import binary
from typed_nnx_codegen.migrate.linen.shapes.reductions import product_of

_LONGEST_RANGE: Final = 4096


def _len(call: Arguments) -> Value:
    value = call.get(0)
    if isinstance(value, Array):
        return size_value(value.shape.axis(0))
    if isinstance(value, ShapeOf) and value.shape.rank is not None:
        return Const(value.shape.rank)
    if isinstance(value, Seq | Table):
        return Const(len(value.items))
    if isinstance(value, Const) and isinstance(value.value, str):
        return Const(len(value.value))
    if isinstance(value, Code):
        return Size(as_dim(Piece(f"len({value.code})", value.home)))
    return Unknown("the length of an unknown value")


def _extreme(pick: Callable[..., Dim], number: Callable[..., object]) -> Rule:
    def rule(call: Arguments) -> Value:
        values = call.positional
        if len(values) == 1:
            inner = items_of(values[0])
            if not inner:
                return _called("max" if pick is maximum else "min", call)
            values = inner
        if call.named or not values:
            return Unknown("an extreme by a key")
        literal = [v.value for v in values if isinstance(v, Const)]
        if len(literal) == len(values) and all(isinstance(v, int | float) for v in literal):
            return Const(number(literal))
        dims = [dim_of(value) for value in values]
        known = [dim for dim in dims if dim is not None]
        if len(known) == len(dims):
            return size_value(pick(*known))
        return Unknown("the extreme of unknown values")

    return rule


def _called(name: str, call: Arguments) -> Value:
    """Return the call as code where its one argument is code."""
    code = code_of(call.get(0))
    return (
        Unknown(f"{name} of an unknown value")
        if code is None
        else Code(f"{name}({code[0]})", code[1])
    )


def _int(call: Arguments) -> Value:
    value = call.get(0)
    if isinstance(value, Const) and isinstance(value.value, int | float | str):
        try:
            return Const(int(value.value))
        except (ValueError, OverflowError):
            return Unknown(f"int({value.value!r})")
    dim = dim_of(value)
    if dim is None:
        return Unknown("a whole number of an unknown value")
    return size_value(whole(dim))


def _float(call: Arguments) -> Value:
    value = call.get(0)
    if isinstance(value, Const) and isinstance(value.value, int | float):
        return Const(float(value.value))
    return value if isinstance(value, Size) else _called("float", call)


def _bool(call: Arguments) -> Value:
    value = call.get(0)
    return Const(bool(value.value)) if isinstance(value, Const) else _called("bool", call)


def _str(call: Arguments) -> Value:
    value = call.get(0)
    return Const(str(value.value)) if isinstance(value, Const) else _called("str", call)


def _abs(call: Arguments) -> Value:
    value = call.get(0)
    if isinstance(value, Const) and isinstance(value.value, int | float):
        return Const(abs(value.value))
    return Array(value.shape) if isinstance(value, Array) else _called("abs", call)


def _round(call: Arguments) -> Value:
    value = call.get(0)
    if isinstance(value, Const) and isinstance(value.value, int | float) and is_none(call.get(1)):
        return Const(round(value.value))
    return _called("round", call) if len(call.positional) == 1 else Unknown("a rounded number")


def _sum(call: Arguments) -> Value:
    value = call.get(0)
    items = items_of(value)
    if items is None:
        return _called("sum", call)
    total = call.get(1, "start", default=Const(0))
    for item in items:
        total = binary("+", total, item)
    return total


def _sequence(*, is_list: bool) -> Rule:
    def rule(call: Arguments) -> Value:
        if not call.positional:
            return Seq((), is_list)
        value = call.get(0)
        if isinstance(value, ShapeOf) and value.shape.lead is not None:
            return value
        items = _iterated(value)
        if items is None:
            return _called("list" if is_list else "tuple", call)
        return Seq(items, is_list)

    return rule


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


def _range(call: Arguments) -> Value:
    numbers = [number_of(value) for value in call.positional]
    known = [number for number in numbers if number is not None]
    if len(known) != len(numbers) or not 1 <= len(known) <= 3 or known[2:] == [0]:
        return Unknown("a range whose bounds are not literal")
    counted = range(*known)
    if len(counted) > _LONGEST_RANGE:
        return Unknown("a long range")
    return Seq(tuple(Const(k) for k in counted), is_list=True)


def _zip(call: Arguments) -> Value:
    rows = [_iterated(value) for value in call.positional]
    known = [row for row in rows if row is not None]
    if len(known) != len(rows):
        return Unknown("sequences that are not known item by item")
    return Seq(tuple(map(Seq, zip(*known, strict=False))), is_list=True)


def _enumerate(call: Arguments) -> Value:
    items = _iterated(call.get(0))
    start = call.integer(1, "start", default=0)
    if items is None or start is None:
        return Unknown("a sequence that is not known item by item")
    pairs = (Seq((Const(k), item)) for k, item in enumerate(items, start))
    return Seq(tuple(pairs), is_list=True)


def _reversed(call: Arguments) -> Value:
    items = _iterated(call.get(0))
    if items is None:
        return _called("reversed", call)
    return Seq(items[::-1], is_list=True)


def _sorted(call: Arguments) -> Value:
    items = _iterated(call.get(0)) or ()
    literals = [item.value for item in items if isinstance(item, Const)]
    if not items or len(literals) != len(items) or call.given(None, "key"):
        return Unknown("a sorted sequence")
    order = call.flag("reverse")
    texts = [value for value in literals if isinstance(value, str)]
    numbers = [value for value in literals if isinstance(value, int | float)]
    if order is None or len(items) not in (len(texts), len(numbers)):
        return Unknown("a sorted sequence")
    made = sorted(texts, reverse=order) if texts else sorted(numbers, reverse=order)
    return Seq(tuple(map(Const, made)), is_list=True)


def _divmod(call: Arguments) -> Value:
    first, second = call.get(0), call.get(1)
    return Seq((binary("//", first, second), binary("%", first, second)))


def _pow(call: Arguments) -> Value:
    return binary("**", call.get(0), call.get(1))


def _all_or_any(pick: Callable[[list[bool]], bool]) -> Rule:
    def rule(call: Arguments) -> Value:
        items = _iterated(call.get(0))
        literals = [bool(item.value) for item in items or () if isinstance(item, Const)]
        if items is None or len(literals) != len(items):
            return Unknown("whether unknown values are true")
        return Const(pick(literals))

    return rule


def _on_float(function: Callable[[float], float]) -> Rule:
    """Return the rule of a function of `math` that gives a float."""

    def rule(call: Arguments) -> Value:
        value = call.get(0)
        literal = isinstance(value, Const) and len(call.positional) == 1
        if literal and isinstance(value, Const) and isinstance(value.value, int | float):
            try:
                return Const(function(value.value))
            except (ValueError, OverflowError):
                return Unknown("a number outside the domain of a function")
        return A_NUMBER if dim_of(value) is not None else Unknown("a number")

    return rule


def _rounded(rounded: Callable[[float], int], of_quotient: Callable[[Dim, Dim], Dim]) -> Rule:
    def rule(call: Arguments) -> Value:
        value = call.get(0)
        if isinstance(value, Const) and isinstance(value.value, int | float):
            return Const(rounded(value.value))
        quotient = value.dim.atom if isinstance(value, Size) else None
        parts = getattr(quotient, "parts", ())
        if getattr(quotient, "operation", "") == "/" and len(parts) == 2:
            return size_value(of_quotient(*parts))
        return Unknown("a rounded number")

    return rule


def _floored(first: Dim, second: Dim) -> Dim:
    return first // second


def _raised(first: Dim, second: Dim) -> Dim:
    return first.ceil_divided(second)


def _operator(sign: str) -> Rule:
    return lambda call: binary(sign, call.get(0), call.get(1))


BUILTINS: Final[dict[str, Rule]] = {
    "len": _len,
    "max": _extreme(maximum, max),
    "min": _extreme(minimum, min),
    "int": _int,
    "float": _float,
    "bool": _bool,
    "str": _str,
    "abs": _abs,
    "round": _round,
    "sum": _sum,
    "tuple": _sequence(is_list=False),
    "list": _sequence(is_list=True),
    "range": _range,
    "zip": _zip,
    "enumerate": _enumerate,
    "reversed": _reversed,
    "sorted": _sorted,
    "divmod": _divmod,
    "pow": _pow,
    "all": _all_or_any(all),
    "any": _all_or_any(any),
}
MATH: Final[dict[str, Rule]] = {
    **{
        function.__name__: _on_float(function)
        for function in (math.sqrt, math.exp, math.log2, math.log10, math.sin, math.cos, math.tan)
    },
    "log": _on_float(math.log),
    "prod": lambda call: product_of(call.get(0)),
    "ceil": _rounded(math.ceil, _raised),
    "floor": _rounded(math.floor, _floored),
    "pow": _pow,
}
OPERATOR: Final[dict[str, Rule]] = {
    name: _operator(sign)
    for name, sign in {"mul": "*", "add": "+", "sub": "-", "floordiv": "//", "mod": "%"}.items()
}
