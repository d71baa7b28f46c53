"""Tuples of which some items are in a field: `self.kernel_size + (channels, features)`."""

from __future__ import annotations

from functools import reduce

import libcst as cst

from typed_nnx_codegen.migrate.linen import shapes
from typed_nnx_codegen.migrate.linen.shapes.operands import items_of, wanted_shape
from typed_nnx_codegen.migrate.linen.values import (
    Code,
    CodeTuple,
    Lead,
    Sequence,
    Shape,
    ShapeOf,
    Value,
)


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
        if is_starred and not isinstance(item, ShapeOf | Sequence):
            return None
        parts.append(item if is_starred else Sequence((item,)))
    found = reduce(lambda one, other: shapes.binary("+", one, other), parts)
    return found if isinstance(found, ShapeOf) else None


def with_starred(value: Value, node: cst.Tuple | cst.List, items: list[Value]) -> Value:
    """Return a tuple that unpacks fields with what is known of its last items."""
    stars = [k for k, one in enumerate(node.elements) if isinstance(one, cst.StarredElement)]
    last = items[stars[-1] + 1 :]
    return _coded(value, Sequence(tuple(last))) if last else value


def _coded(value: Value, last: Value) -> Value:
    if not isinstance(value, Code):
        return value
    return CodeTuple(value.code, value.home, shape=Shape(wanted_shape(last).dims, Lead("", None)))
