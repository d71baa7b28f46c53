"""Functions that take parts of an array, by index arrays or by bounds."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import (
    NONE,
    Array,
    Const,
    Seq,
    Shape,
    Slice,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.arguments import Arguments, Rule, names
from typed_nnx_codegen.migrate.linen.shapes.axes import behind, changed, removed, split_front
from typed_nnx_codegen.migrate.linen.shapes.broadcasting import combined_dim
from typed_nnx_codegen.migrate.linen.shapes.indexing import sliced
from typed_nnx_codegen.migrate.linen.shapes.joining import same_rank
from typed_nnx_codegen.migrate.linen.shapes.operands import dim_of, items_of, prefixed
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim, as_dim


def taken(shape: Shape, at: Shape, axis: int) -> Shape:
    """Return the shape of items of an array that an index array names along an axis."""
    if axis < 0:
        shape = shape.expanded(-axis)
        axis += len(shape.dims)
        before = Shape(shape.dims[:axis], shape.lead)
        after = shape.dims[axis + 1 :]
        if at.lead is None:
            return Shape((*before.dims, *at.dims, *after), before.lead)
        inner = Shape((*at.dims, *after), at.lead)
        return (
            prefixed(before.dims, inner)
            if before.lead is None
            else Shape(inner.dims, Array().shape.lead)
        )
    front, rest = split_front(shape, axis + 1)
    if rest.lead is None:
        return prefixed(front[:-1], Shape((*at.dims, *rest.dims), at.lead))
    return behind((*front[:-1], *at.dims), rest) if at.lead is None else Array().shape


def _take(call: Arguments) -> Value:
    shape, at = call.shape(0, "a"), call.shape(1, "indices")
    if call.is_none(2, "axis"):
        return Array(at)
    axis = call.integer(2, "axis", default=0)
    return Array() if axis is None else Array(taken(shape, at, axis))


def _take_along_axis(call: Arguments) -> Value:
    shape, at = same_rank([call.shape(0, "arr"), call.shape(1, "indices")])
    axis = call.integer(2, "axis", default=-1)
    if axis is None or call.is_none(2, "axis"):
        return Array()
    if not shape.rank or shape.rank != at.rank:
        return Array(at)
    place = axis % shape.rank
    pairs = zip(shape.dims, at.dims, strict=True)
    dims = [b if k == place else combined_dim(b, a) for k, (a, b) in enumerate(pairs)]
    return Array(Shape(tuple(dims)))


def _slice_in_dim(call: Arguments) -> Value:
    axis = call.integer(4, "axis", default=0)
    if axis is None:
        return Array()
    shape = call.shape(0, "operand")
    bounds = Slice(
        call.get(1, "start_index"),
        call.get(2, "limit_index"),
        call.get(3, "stride", default=Const(1)),
    )
    return Array(changed(shape, axis, sliced(shape.axis(axis), bounds)))


def _slice(call: Arguments) -> Value:
    starts, stops = items_of(call.get(1, "start_indices")), items_of(call.get(2, "limit_indices"))
    steps = items_of(call.get(3, "strides"))
    if stops is None or starts is None or len(starts) != len(stops):
        return Array()
    by = steps or (NONE,) * len(starts)
    pieces = zip(starts, stops, by, strict=False)
    known = call.shape(0, "operand").with_rank(len(stops))
    sizes = known.dims if known is not None else (None,) * len(stops)
    dims = [sliced(size, Slice(*piece)) for size, piece in zip(sizes, pieces, strict=False)]
    return Array(Shape(tuple(dims)))


def _dynamic_slice(call: Arguments) -> Value:
    return Array(call.wanted(2, "slice_sizes"))


def _dynamic_slice_in_dim(call: Arguments) -> Value:
    axis = call.integer(3, "axis", default=0)
    size = dim_of(call.get(2, "slice_size"))
    return Array() if axis is None else Array(changed(call.shape(0, "operand"), axis, size))


def _index_in_dim(call: Arguments) -> Value:
    axis, keep = call.integer(2, "axis", default=0), call.get(3, "keepdims", default=Const(True))
    shape = call.shape(0, "operand")
    if axis is None or not isinstance(keep, Const):
        return Array()
    one = as_dim(1)
    return Array(changed(shape, axis, one) if keep.value else removed(shape, (axis,)))


def _updated(call: Arguments) -> Value:
    return Array(call.shape(0, "operand"))


def _segments(call: Arguments) -> Value:
    shape = call.shape(0, "data")
    count: Dim | None = dim_of(call.get(2, "num_segments"))
    return Array(changed(shape, 0, count))


def _searched(call: Arguments) -> Value:
    return Array(call.shape(1, "v"))


def _unknown(call: Arguments) -> Value:
    return Unknown("a shape that depends on the numbers in an array")


def _nonzero(call: Arguments) -> Value:
    shape, size = call.shape(0, "a"), dim_of(call.get(None, "size"))
    if shape.rank is None:
        return Unknown("the rank is not known")
    return Seq((Array(Shape((size,))),) * shape.rank)


GATHERING: Final[dict[str, Rule]] = {
    "take": _take,
    "take_along_axis": _take_along_axis,
    "searchsorted": _searched,
    "digitize": lambda call: Array(call.shape(0, "x")),
    "nonzero": _nonzero,
    "unique": _unknown,
    "argwhere": _unknown,
}
LAX_GATHERING: Final[dict[str, Rule]] = {
    "slice": _slice,
    "slice_in_dim": _slice_in_dim,
    "dynamic_slice": _dynamic_slice,
    "dynamic_slice_in_dim": _dynamic_slice_in_dim,
    "dynamic_index_in_dim": _index_in_dim,
    "index_in_dim": _index_in_dim,
    "dynamic_update_slice": _updated,
    "dynamic_update_slice_in_dim": _updated,
    "dynamic_update_index_in_dim": _updated,
}
SEGMENTS: Final[dict[str, Rule]] = dict.fromkeys(
    names("segment_sum segment_max segment_min segment_prod"), _segments
)
