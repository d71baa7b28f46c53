"""What methods and attributes of arrays are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import (
    Array,
    Code,
    Seq,
    Shape,
    ShapeOf,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.arguments import (
    Arguments,
    Rule,
    Starred,
    has_star,
    names,
)
from typed_nnx_codegen.migrate.linen.shapes.axes import swapped
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    integers_of,
    is_none,
    size_value,
)
from typed_nnx_codegen.migrate.linen.shapes.ranks import rank_size
from typed_nnx_codegen.migrate.linen.shapes.reshaping import transposed
from typed_nnx_codegen.migrate.linen.shapes.tables import NUMPY
from typed_nnx_codegen.migrate.linen.shapes.totals import reshaped
from typed_nnx_codegen.migrate.linen.sizes.dims import as_dim

_AS_FUNCTIONS: Final = names(
    "all any argmax argmin argsort clip conj conjugate cumprod cumsum diagonal dot max mean min"
    " prod ptp ravel repeat round sort squeeze std sum swapaxes take trace var"
)
_UNCHANGED: Final = names("block_until_ready copy addressable_data to_device view __array__")
_UPDATES: Final = names("add apply divide max min mul multiply power set subtract")


def _reshape(call: Arguments) -> Value:
    wanted = call.wanted_of_all(1, "shape")
    return Array(reshaped(call.shape(0), wanted))


def _transpose(call: Arguments) -> Value:
    values = call.positional[1:]
    if any(isinstance(value, Starred) for value in values):
        return Array()
    one = values[0] if len(values) == 1 else Seq(values)
    if not values or is_none(one):
        return Array(transposed(call.shape(0), None))
    axes = integers_of(one)
    return Array() if axes is None else Array(transposed(call.shape(0), axes))


def _flatten(call: Arguments) -> Value:
    return Array(reshaped(call.shape(0), Shape((as_dim(-1),))))


def _astype(call: Arguments) -> Value:
    dtype = call.get(1, "dtype")
    return Array(call.shape(0), dtype.code if isinstance(dtype, Code) else "")


def _itself(call: Arguments) -> Value:
    return Array(call.shape(0))


def _item(call: Arguments) -> Value:
    return Unknown("a number in an array")


METHODS: Final[dict[str, Rule]] = {
    **{name: NUMPY[name] for name in _AS_FUNCTIONS},
    **dict.fromkeys(_UNCHANGED, _itself),
    "reshape": _reshape,
    "transpose": _transpose,
    "flatten": _flatten,
    "astype": _astype,
    "item": _item,
    "tolist": _item,
}


def method_result(
    array: Array, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value | None:
    """Return what a method of an array gives.

    Args:
        array: The array.
        name: The method; ``at.set`` and the like for ``x.at[index].set(value)``.
        args: The arguments by position.
        keywords: The arguments by name.

    Returns:
        The result; None where the method is not known.
    """
    kind, _, update = name.partition(".")
    if kind == "at":
        return Array(array.shape, array.dtype) if update in _UPDATES else None
    rule = METHODS.get(name)
    if rule is not None and has_star(args) and name not in ("reshape", "transpose"):
        return Unknown("arguments with a star")
    return None if rule is None else rule(Arguments((array, *args), keywords))


def attribute(value: Value, name: str) -> Value | None:
    """Return an attribute of an array, None where it is not known or a method."""
    if not isinstance(value, Array):
        return None
    shape = value.shape
    match name:
        case "shape":
            return ShapeOf(shape)
        case "ndim":
            return rank_size(shape)
        case "size":
            return size_value(shape.size_from(0))
        case "T":
            return Array(transposed(shape, None), value.dtype)
        case "mT":
            return Array(swapped(shape, -1, -2), value.dtype)
        case "real" | "imag":
            return Array(shape)
        case "dtype":
            return Code(value.dtype) if value.dtype else Unknown("a dtype")
    return None
