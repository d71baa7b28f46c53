"""Tuples of which some items are in a field: `self.kernel_size + (channels, features)`."""

from __future__ import annotations

from functools import reduce
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, dotted
from typed_nnx_codegen.migrate.linen import shapes
from typed_nnx_codegen.migrate.linen.modules.classes import Field
from typed_nnx_codegen.migrate.linen.running.values import (
    Code,
    CodeTuple,
    Lead,
    Seq,
    Shape,
    ShapeOf,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import dim_of, items_of, wanted_shape
from typed_nnx_codegen.migrate.linen.sizes.dims import Piece, as_dim, chosen

_TUPLES: Final = ("tuple", "Tuple")


def with_ends(value: Value, left: Value, right: Value) -> Value:
    """Return the sum of two tuples with what is known of its last items.

    Args:
        value: The sum, as code.
        left: The first tuple.
        right: The second tuple.
    """
    is_sum = isinstance(value, Code) and isinstance(left, Code)
    return _coded(value, right) if is_sum and items_of(right) is not None else value


def starred_tuple(node: cst.Tuple | cst.List, items: list[Value]) -> Value | None:
    """Return a tuple that unpacks the shape of an array; None where it unpacks something else."""
    parts: list[Value] = []
    for element, item in zip(node.elements, items, strict=True):
        is_starred = isinstance(element, cst.StarredElement)
        if is_starred and not isinstance(item, ShapeOf | Seq):
            return None
        parts.append(item if is_starred else Seq((item,)))
    found = reduce(lambda one, other: shapes.binary("+", one, other), parts)
    return found if isinstance(found, ShapeOf) else None


def with_starred(value: Value, node: cst.Tuple | cst.List, items: list[Value]) -> Value:
    """Return a tuple that unpacks fields with what is known of its last items."""
    stars = [k for k, one in enumerate(node.elements) if isinstance(one, cst.StarredElement)]
    last = items[stars[-1] + 1 :]
    return _coded(value, Seq(tuple(last))) if last else value


def one_by_one(one: Field, code: str) -> CodeTuple | None:
    """Return a field whose type says how many numbers it holds; None for other fields."""
    match one.annotation.annotation:
        case cst.Subscript(value=kind, slice=slices) if dotted(kind).rpartition(".")[2] in _TUPLES:
            kinds = [code_of(each) for each in slices]
        case _:
            return None
    if any(kind.rstrip(", ") != "int" for kind in kinds) or not _agrees(one.default, len(kinds)):
        return None
    dims = tuple(as_dim(Piece(f"{code}[{k}]")) for k in range(len(kinds)))
    return CodeTuple(code, shape=Shape(dims))


def either_tuple(value: Code, condition: Piece | None, one: Value, other: Value) -> Code:
    """Return one of two tuples of numbers with its sizes; other code as it is.

    Args:
        value: The code of the choice.
        condition: The condition, as the constructor says it.
        one: The tuple where it holds.
        other: The tuple else.
    """
    first, second = (items_of(side) or () for side in (one, other))
    dims = [(dim_of(a), dim_of(b)) for a, b in zip(first, second, strict=False)]
    known = [chosen(condition, a, b) for a, b in dims if a and b] if condition else []
    if not known or not len(known) == len(first) == len(second):
        return value
    return CodeTuple(value.code, value.home, shape=Shape(tuple(known)), is_sure=True)


def _agrees(default: cst.BaseExpression | None, count: int) -> bool:
    """Whether the default of a field is not of another form than its type says."""
    match default:
        case None:
            return True
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return len(elements) == count
    return False


def _coded(value: Value, last: Value) -> Value:
    if not isinstance(value, Code):
        return value
    return CodeTuple(value.code, value.home, shape=Shape(wanted_shape(last).dims, Lead("", None)))
