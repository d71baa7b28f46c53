"""Functions that make one array of several, several of one, or take parts of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Final

from typed_nnx_codegen.migrate.linen.domain.dims import Dim, as_dim, product
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    NONE,
    Array,
    Const,
    Seq,
    Shape,
    ShapeOf,
    Slice,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.axes import (
    behind,
    changed,
    combined_dim,
    inserted,
    maybe_last,
    positive_axis,
    removed,
    split_front,
)
from typed_nnx_codegen.migrate.linen.shapes.indexing import sliced
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    Arguments,
    Rule,
    dim_of,
    integers_of,
    is_none,
    items_of,
    names,
    number_of,
    prefixed,
    shape_of,
)


def _shapes(value: Value) -> list[Shape] | None:
    """Return the shapes of the arrays in a list, all with the rank that one of them has."""
    if isinstance(value, Array) and value.shape.rank and value.shape.dims[0] is not None:
        count = value.shape.dims[0].constant
        return None if not count or not 0 < count < 1000 else [Shape(value.shape.dims[1:])] * count
    if not isinstance(value, Seq) or not value.items:
        return None
    return same_rank([shape_of(item) for item in value.items])


def same_rank(shapes: list[Shape]) -> list[Shape]:
    """Return shapes of arrays of one rank, which is known if one is."""
    ranks = {shape.rank for shape in shapes} - {None}
    if len(ranks) != 1:
        return shapes
    (rank,) = ranks
    assert rank is not None
    return [shape.with_rank(rank) or shape for shape in shapes]


def concatenated(shapes: list[Shape], axis: int) -> Shape:
    """Return the shape of arrays one after the other along an axis."""
    sizes = [shape.axis(axis) for shape in shapes]
    known = [size for size in sizes if size is not None]
    total = sum(known, start=as_dim(0)) if len(known) == len(sizes) else None
    return changed(_common(shapes, axis), axis, total)


def _common(shapes: list[Shape], axis: int | None) -> Shape:
    """Return what the shapes have in common but for one axis."""
    first = shapes[0]
    if any(shape.rank is None for shape in shapes):
        known = [shape for shape in shapes if shape.lead is None or shape.lead.argument]
        best = max(known, key=lambda shape: shape.rank is not None, default=ANY_SHAPE)
        return _agreeing(best, shapes, axis)
    for shape in shapes[1:]:
        if shape.rank == first.rank:
            pairs = zip(first.dims, shape.dims, strict=True)
            skip = None if axis is None else positive_axis(first, axis)
            first = Shape(tuple(_same(a, b) if k != skip else a for k, (a, b) in enumerate(pairs)))
    return first


def _agreeing(best: Shape, shapes: list[Shape], axis: int | None) -> Shape:
    if axis is not None and axis >= 0:
        return best
    count = max(len(shape.dims) for shape in shapes if shape.rank is None)
    count = max(count, -(axis or 0))
    result = best.expanded(count)
    for shape in shapes:
        other = shape.expanded(count)
        width = min(len(result.dims), len(other.dims))
        tail = [
            _same(a, b)
            for a, b in zip(
                result.dims[len(result.dims) - width :],
                other.dims[len(other.dims) - width :],
                strict=True,
            )
        ]
        if axis is not None and -axis <= width:
            tail[axis] = None
        result = replace(result, dims=(*result.dims[: len(result.dims) - width], *tail))
    return result


def _same(first: Dim | None, second: Dim | None) -> Dim | None:
    """Return the size of an axis that is the same in two arrays."""
    if first is None or second is None:
        return first if second is None else second
    if first.constant is not None:
        return first
    return second if second.constant is not None else combined_dim(first, second)


def _concatenate(call: Arguments) -> Value:
    arrays = call.get(0, "arrays", "operands")
    shapes = _shapes(arrays)
    if shapes is None and isinstance(arrays, Array):
        return _rows(arrays.shape, call)
    if shapes is None:
        return Unknown("arrays that are not known one by one")
    if call.given(1, "axis", "dimension") and call.is_none(1, "axis", "dimension"):
        items = arrays.items if isinstance(arrays, Seq) else ()
        return Array(_flat([shape_of(item).size_from(0) for item in items] or [None]))
    axis = call.integer(1, "axis", "dimension", default=0)
    return Array() if axis is None else Array(concatenated(shapes, axis))


def _rows(shape: Shape, call: Arguments) -> Value:
    """Return the shape of the rows of an array one after the other; there are any number."""
    if call.given(1, "axis", "dimension") and call.is_none(1, "axis", "dimension"):
        return Array(Shape((shape.size_from(0),)))
    axis = call.integer(1, "axis", "dimension", default=0)
    if axis is None or shape.rank is None or shape.rank < 2:
        return Unknown("arrays that are not known one by one")
    row = Shape(shape.dims[1:])
    count, size = shape.dims[0], row.axis(axis)
    total = None if count is None or size is None else count * size
    return Array(changed(row, axis, total))


def _flat(sizes: list[Dim | None]) -> Shape:
    known = [size for size in sizes if size is not None]
    return Shape((sum(known, start=as_dim(0)) if len(known) == len(sizes) else None,))


def _stack(call: Arguments) -> Value:
    shapes = _shapes(call.get(0, "arrays"))
    axis = call.integer(1, "axis", default=0)
    if shapes is None or axis is None:
        return Unknown("arrays that are not known one by one")
    return Array(inserted(_common(shapes, None), axis, as_dim(len(shapes))))


def _hstack(call: Arguments) -> Value:
    shapes = _shapes(call.get(0, "tup"))
    if shapes is None:
        return Unknown("arrays that are not known one by one")
    rank = shapes[0].rank
    if rank == 0:
        return Array(Shape((as_dim(len(shapes)),)))
    return Array() if rank is None else Array(concatenated(shapes, 0 if rank == 1 else 1))


def _vstack(call: Arguments) -> Value:
    shapes = _shapes(call.get(0, "tup"))
    if shapes is None:
        return Unknown("arrays that are not known one by one")
    if shapes[0].rank == 1:
        return Array(inserted(_common(shapes, None), 0, as_dim(len(shapes))))
    return Array() if shapes[0].rank in (None, 0) else Array(concatenated(shapes, 0))


def _dstack(call: Arguments) -> Value:
    shapes = _shapes(call.get(0, "tup"))
    if shapes is None or shapes[0].rank is None or shapes[0].rank < 3:
        return Array()
    return Array(concatenated(shapes, 2))


def _append(call: Arguments) -> Value:
    shapes = [call.shape(0, "arr"), call.shape(1, "values")]
    if call.is_none(2, "axis"):
        return Array(_flat([shape.size_from(0) for shape in shapes]))
    shapes = same_rank(shapes)
    axis = call.integer(2, "axis", default=0)
    return Array() if axis is None else Array(concatenated(shapes, axis))


def parts(shape: Shape, where: Value, axis: int, *, exact: bool) -> Value:
    """Return the arrays that an array is split into.

    Args:
        shape: The shape of the array.
        where: The number of parts, or where they begin.
        axis: The axis that is split.
        exact: Whether all parts have the same size where there is a number of them.
    """
    size = shape.axis(axis)
    count = number_of(where)
    if count is not None and count > 0:
        longer = [0 if exact else count - 1 - k for k in range(count)]
        sizes = [None if size is None else (size + by) // count for by in longer]
        end = shape.dims[-1] if shape.dims else None
        ends = [None if end is None else (end + by) // count for by in longer]
        pairs = zip(sizes, ends, strict=True)
        made = [Array(maybe_last(shape, axis, part, last)) for part, last in pairs]
        return Seq(tuple(made), is_list=True)
    items = items_of(where)
    if items is None:
        return Unknown("a split into a number of parts that is not literal")
    bounds: list[Dim | None] = [as_dim(0), *(dim_of(item) for item in items), size]
    between = [
        None if end is None or start is None else end - start for start, end in pairwise(bounds)
    ]
    return Seq(tuple(Array(changed(shape, axis, part)) for part in between), is_list=True)


def _split(*, exact: bool, axis: int | None = None) -> Rule:
    def rule(call: Arguments) -> Value:
        where = call.get(1, "indices_or_sections")
        at = axis if axis is not None else call.integer(2, "axis", default=0)
        if at is None:
            return Unknown("a split along an axis that is not literal")
        return parts(call.shape(0, "ary"), where, at, exact=exact)

    return rule


def _unstack(call: Arguments) -> Value:
    shape, axis = call.shape(0, "x"), call.integer(None, "axis", default=0)
    if axis is None:
        return Unknown("an axis that is not literal")
    size = shape.axis(axis)
    count = size.constant if size is not None else None
    if count is None:
        return Unknown("a number of arrays that is not literal")
    return Seq((Array(removed(shape, (axis,))),) * count)


def _tile(call: Arguments) -> Value:
    shape, times = call.shape(0, "A"), call.get(1, "reps")
    single = dim_of(times)
    items = items_of(times) if single is None else (times,)
    if items is None and isinstance(times, ShapeOf):
        return Array()
    factors = [dim_of(item) for item in items or ()]
    if items is None:
        return Array()
    if shape.lead is not None and len(factors) > max(len(shape.dims), 1):
        # The array may have fewer axes than there are factors.
        shape = Shape(shape.expanded(1).dims, ANY_SHAPE.lead)
        factors = factors[-len(shape.dims) :]
    shape = shape.expanded(len(factors))
    count = max(len(shape.dims), len(factors))
    ones: list[Dim | None] = [as_dim(1)] * count
    sizes = ones[len(shape.dims) :] + list(shape.dims)
    by = ones[len(factors) :] + factors
    return Array(Shape(tuple(map(_times, sizes, by)), shape.lead))


def _times(first: Dim | None, second: Dim | None) -> Dim | None:
    return None if first is None or second is None else first * second


def repeated(shape: Shape, times: Value, axis: int) -> Shape:
    """Return the shape of an array whose items are repeated along an axis."""
    factor = dim_of(times)
    size = shape.axis(axis)
    if factor is not None:
        return changed(shape, axis, _times(size, factor))
    numbers = integers_of(times)
    if numbers is None:
        return changed(shape, axis, None)
    total = numbers[0] if len(numbers) == 1 else sum(numbers)
    dim = _times(size, as_dim(total)) if len(numbers) == 1 else as_dim(total)
    return changed(shape, axis, dim)


def _repeat(call: Arguments) -> Value:
    shape, times = call.shape(0, "a"), call.get(1, "repeats")
    total = call.get(None, "total_repeat_length")
    if call.is_none(2, "axis"):
        shape, axis = Shape((shape.size_from(0),)), 0
    else:
        at = call.integer(2, "axis", default=0)
        if at is None:
            return Array()
        axis = at
    if not is_none(total):
        return Array(changed(shape, axis, dim_of(total)))
    return Array(repeated(shape, times, axis))


def _pad(call: Arguments) -> Value:
    shape, widths = call.shape(0, "array"), call.get(1, "pad_width")
    pairs = _pad_widths(widths)
    if pairs is None:
        return Array()
    if len(pairs) == 1 and shape.lead is None:
        pairs = pairs * len(shape.dims)
    known = shape.with_rank(len(pairs)) if len(pairs) > 1 else shape
    if known is None or known.lead is not None or len(known.dims) != len(pairs):
        return Array()
    dims = [
        None if dim is None or low is None or high is None else dim + low + high
        for dim, (low, high) in zip(known.dims, pairs, strict=True)
    ]
    return Array(Shape(tuple(dims)))


def _pad_widths(value: Value) -> list[tuple[Dim | None, Dim | None]] | None:
    single = dim_of(value)
    if single is not None:
        return [(single, single)]
    items = items_of(value)
    if items is None or len(items) == 0:
        return None
    if all(dim_of(item) is not None for item in items):
        first, *_, last = (*items[:1], *items)
        return [(dim_of(first), dim_of(last))] if len(items) < 3 else None
    pairs: list[tuple[Dim | None, Dim | None]] = []
    for item in items:
        inner = items_of(item)
        if inner is None or len(inner) not in (1, 2):
            alone = dim_of(item)
            pairs.append((alone, alone))
        else:
            pairs.append((dim_of(inner[0]), dim_of(inner[-1])))
    return pairs


def _lax_pad(call: Arguments) -> Value:
    shape, config = call.shape(0, "operand"), items_of(call.get(2, "padding_config"))
    known = None if config is None else shape.with_rank(len(config))
    if config is None or known is None:
        return Array()
    dims: list[Dim | None] = []
    for dim, entry in zip(known.dims, config, strict=True):
        numbers = [dim_of(item) for item in items_of(entry) or ()]
        low, high, inner = [*numbers, None, None, None][:3]
        if dim is None or low is None or high is None or inner is None:
            dims.append(None)
        else:
            between = product((dim - 1, inner)) if inner.constant != 0 else as_dim(0)
            dims.append(dim + low + high + between)
    return Array(Shape(tuple(dims)))


def _meshgrid(call: Arguments) -> Value:
    sizes = [shape_of(value).size_from(0) for value in call.positional]
    indexing = call.text(None, "indexing") or "xy"
    if indexing == "xy" and len(sizes) > 1:
        sizes[0], sizes[1] = sizes[1], sizes[0]
    return Seq((Array(Shape(tuple(sizes))),) * len(sizes), is_list=True)


JOINING: Final[dict[str, Rule]] = {
    "concatenate": _concatenate,
    "concat": _concatenate,
    "stack": _stack,
    "hstack": _hstack,
    "vstack": _vstack,
    "dstack": _dstack,
    "append": _append,
    "split": _split(exact=True),
    "array_split": _split(exact=False),
    "hsplit": _split(exact=True, axis=1),
    "vsplit": _split(exact=True, axis=0),
    "unstack": _unstack,
    "tile": _tile,
    "repeat": _repeat,
    "pad": _pad,
    "meshgrid": _meshgrid,
}
LAX_JOINING: Final[dict[str, Rule]] = {"concatenate": _concatenate, "pad": _lax_pad}


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
