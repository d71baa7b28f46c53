"""Matrix products and the sums over common axes."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import (
    ANY_SHAPE,
    Array,
    Seq,
    Shape,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.arguments import Arguments, Rule
from typed_nnx_codegen.migrate.linen.shapes.axes import positive_axis, removed
from typed_nnx_codegen.migrate.linen.shapes.broadcasting import broadcast
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    integers_of,
    items_of,
    prefixed,
    shape_of,
)
from typed_nnx_codegen.migrate.linen.shapes.ranks import axes_in


def multiplied(first: Shape, second: Shape) -> Shape:
    """Return the shape of `first @ second`."""
    if 0 in (first.rank, second.rank):
        return ANY_SHAPE
    if first.rank == 1:
        return Shape(()) if second.rank == 1 else removed(second, (-2,))
    if second.rank == 1:
        return removed(first, (-1,))
    column = second.axis(-1)
    if second.rank == 2:
        rows = removed(first, (-1,))
        return Shape((*rows.dims, column), rows.lead)
    left, right = first.expanded(2), second.expanded(2)
    dims = left.axis(-2), column
    if first.lead is None and second.lead is not None and len(first.dims) == 2:
        # Mostly a batch of matrices with the same one, or just two matrices.
        return Shape(dims, right.lead and replace(right.lead, sure=0))
    if first.lead and second.lead and first.lead.argument != second.lead.argument:
        lead = left.lead if min(len(first.dims), len(second.dims)) > 1 else ANY_SHAPE.lead
        return Shape((*left.dims[:-2], *dims), lead)
    batch = _batch(Shape(left.dims[:-2], left.lead), Shape(right.dims[:-2], right.lead))
    return Shape((*batch.dims, *dims), batch.lead)


def _batch(first: Shape, second: Shape) -> Shape:
    for known, other in ((first, second), (second, first)):
        if known.lead is None and other.lead is not None:
            return known
    return broadcast((first, second))


def _matmul(call: Arguments) -> Value:
    return Array(multiplied(call.shape(0, "a"), call.shape(1, "b")))


def _dot(call: Arguments) -> Value:
    first, second = call.shape(0, "a"), call.shape(1, "b")
    if 0 in (first.rank, second.rank):
        return Array(broadcast((first, second)))
    if second.rank is None or second.rank < 3:
        return Array(multiplied(first, second))
    return Array(_side_by_side(removed(first, (-1,)), removed(second, (-2,))))


def _side_by_side(first: Shape, second: Shape) -> Shape:
    if first.lead is None:
        return prefixed(first.dims, second)
    if second.lead is None:
        lead = replace(first.lead, sure=0) if first.lead.front else first.lead
        return Shape((*first.dims, *second.dims), lead)
    return Shape(second.expanded(1).dims, ANY_SHAPE.lead)


def _vdot(call: Arguments) -> Value:
    return Array(Shape(()))


def _outer(call: Arguments) -> Value:
    first, second = call.shape(0, "a"), call.shape(1, "b")
    return Array(Shape((first.size_from(0), second.size_from(0))))


def _inner(call: Arguments) -> Value:
    first, second = call.shape(0, "a"), call.shape(1, "b")
    if 0 in (first.rank, second.rank):
        return Array(broadcast((first, second)))
    return Array(_side_by_side(removed(first, (-1,)), removed(second, (-1,))))


def _tensordot(call: Arguments) -> Value:
    first, second = call.shape(0, "a"), call.shape(1, "b")
    count = call.integer(2, "axes", default=2)
    if count is not None:
        pairs = tuple(range(-count, 0)), tuple(range(count))
    else:
        items = items_of(call.get(2, "axes")) or ()
        sides = [integers_of(item) for item in items]
        if len(sides) != 2 or sides[0] is None or sides[1] is None:
            return Array()
        pairs = sides[0], sides[1]
    return Array(_side_by_side(removed(first, pairs[0]), removed(second, pairs[1])))


def _dot_general(call: Arguments) -> Value:
    first, second = call.shape(0, "lhs"), call.shape(1, "rhs")
    groups = items_of(call.get(2, "dimension_numbers")) or ()
    numbers = [
        integers_of(axes_in(shape, side))
        for group in groups
        for side, shape in zip(items_of(group) or (), (first, second), strict=False)
    ]
    known = [
        tuple(positive_axis(shape, axis) for axis in side)
        for side, shape in zip(numbers, (first, second) * 2, strict=False)
        if side is not None
    ]
    if len(numbers) != 4 or len(known) != 4:
        return Array()
    if known[2] and None in (first.rank, second.rank):
        return Array()
    batch = tuple(first.axis(axis) for axis in known[2])
    rests = (
        removed(first, {*known[0], *known[2]}),
        removed(second, {*known[1], *known[3]}),
    )
    return Array(prefixed(batch, _side_by_side(*rests)))


def _cross(call: Arguments) -> Value:
    return Array(broadcast((call.shape(0, "a"), call.shape(1, "b"))))


def _multi_dot(call: Arguments) -> Value:
    arrays = call.get(0, "arrays")
    if not isinstance(arrays, Seq) or not arrays.items:
        return Unknown("the arrays are not known one by one")
    result = shape_of(arrays.items[0])
    for item in arrays.items[1:]:
        result = multiplied(result, shape_of(item))
    return Array(result)


PRODUCTS: Final[dict[str, Rule]] = {
    "matmul": _matmul,
    "dot": _dot,
    "vdot": _vdot,
    "outer": _outer,
    "inner": _inner,
    "tensordot": _tensordot,
    "cross": _cross,
    "linalg.multi_dot": _multi_dot,
    "linalg.solve": lambda call: Array(call.shape(1, "b")),
    "linalg.det": lambda call: Array(removed(call.shape(0, "a"), (-1, -2))),
    "vecdot": lambda call: Array(
        removed(broadcast((call.shape(0, "x1"), call.shape(1, "x2"))), (-1,))
    ),
}
LAX_PRODUCTS: Final[dict[str, Rule]] = {
    "dot": _dot,
    "batch_matmul": lambda call: Array(multiplied(call.shape(0, "lhs"), call.shape(1, "rhs"))),
    "dot_general": _dot_general,
}
