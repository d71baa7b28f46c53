"""What subscripts and unpacking take out of arrays and other values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from zlib import crc32

from typed_nnx_codegen.migrate.linen.domain.dims import (
    OF_CALL,
    Dim,
    Piece,
    as_dim,
    bound_by,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    UNKNOWN,
    Array,
    Code,
    Const,
    Lead,
    Remaining,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Slice,
    Table,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.axes import (
    broadcast,
    changed,
    combined_dim,
    is_inner,
    removed,
    same_rank,
    split_front,
    unsettled,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    by_name,
    code_of,
    dim_of,
    is_none,
    items_of,
    number_of,
    place_in,
    prefixed,
    rule,
    size_value,
)

_WHOLE: Final = Slice()
_ONE: Final = Const(1)


def indexed(shape: Shape, index: Value) -> Shape:
    """Return the shape of an array in a subscript."""
    items = list(index.items) if isinstance(index, Seq) and not index.is_list else [index]
    is_known = all(_is_understood(item) for item in items)
    result = _indexed(shape, items) if is_known else ANY_SHAPE
    return _behind_unknown(shape, items) if result == ANY_SHAPE else result


def _indexed(shape: Shape, items: list[Value]) -> Shape:
    whole = [k for k, item in enumerate(items) if item == Const(...)]
    if len(whole) > 1:
        return ANY_SHAPE
    at = whole[0] if whole else len(items)
    front, back = items[:at], items[at + 1 :]
    if shape.lead is None:
        missing = len(shape.dims) - _count(front) - _count(back)
        if missing < 0:
            return ANY_SHAPE
        result = _applied(shape.dims, [*front, *[_WHOLE] * missing, *back])
        return result.shape()
    return _open(shape, front, back)


def _behind_unknown(shape: Shape, items: list[Value]) -> Shape:
    """Return the last dimensions, which whole slices keep whatever is asked for before them."""
    kept = next((k for k, item in enumerate(reversed(items)) if item != _WHOLE), len(items))
    dims = shape.expanded(kept).dims
    return Shape(dims[len(dims) - kept :], Lead("", None)) if 0 < kept <= len(dims) else ANY_SHAPE


def _open(shape: Shape, front: list[Value], back: list[Value]) -> Shape:
    least = _count(front)
    while front and front[-1] == _WHOLE:
        front.pop()
    behind_count = _count(back)
    shape = shape.expanded(behind_count)
    if len(shape.dims) < behind_count:
        return ANY_SHAPE
    at = len(shape.dims) - behind_count
    last = _applied(shape.dims[at:], back)
    inner = Shape(shape.dims[:at], shape.lead)
    count = _count(front)
    dims, rest = split_front(inner, count)
    first = _applied(dims, front)
    if first.gathered is not None and last.gathered is not None:
        return ANY_SHAPE
    if last.gathered is not None:
        # Arrays that index behind an ellipsis.
        return ANY_SHAPE if last.gathered.lead else _after(first, rest, last.shape(), count, least)
    return _after(first, rest, last.shape(), count, least)


def _after(first: _Applied, rest: Shape, last: Shape, count: int, least: int) -> Shape:
    left = max(least - count - len(rest.dims), 0)
    settled = least > count or (first.only_removes and is_inner((*first.removed, 0)))
    if not settled:
        rest = unsettled(rest, count)
    elif least > count and rest.lead is not None and not rest.dims:
        rest = Shape((), _at_least(rest.lead, left))
    front = first.shape()
    if front.lead is not None:
        return ANY_SHAPE
    return prefixed(front.dims, Shape((*rest.dims, *last.dims), rest.lead))


def _at_least(lead: Lead, count: int) -> Lead:
    if lead.sure is None and not lead.front and not lead.start:
        return lead
    return Lead(lead.argument, lead.stop, lead.start, lead.front, max(lead.sure or 0, count))


@dataclass
class _Applied:
    """What subscripts make of dimensions.

    Attributes:
        before: The dimensions before those of index arrays, all where there are none.
        gathered: The shape of the index arrays; None where there are none.
        after: The dimensions behind them.
        removed: The axes that integers take away.
        only_removes: Whether dimensions are kept or taken away as a whole.
    """

    before: list[Dim | None] = field(default_factory=list)
    gathered: Shape | None = None
    after: list[Dim | None] = field(default_factory=list)
    only_removes: bool = True
    removed: list[int] = field(default_factory=list)

    def shape(self) -> Shape:
        """Return the shape."""
        if self.gathered is None:
            return Shape(tuple(self.before))
        inner = self.gathered
        return prefixed(self.before, Shape((*inner.dims, *self.after), inner.lead))


def _applied(dims: tuple[Dim | None, ...], items: list[Value]) -> _Applied:
    on_axes = [item for item in items if not is_none(item)]
    gone = [axis for axis, item in enumerate(on_axes) if not isinstance(item, Slice)]
    result = _Applied(removed=gone)
    advanced = [k for k, item in enumerate(items) if _is_array(item)]
    if advanced:
        # Beside arrays, integers are index arrays too.
        advanced = [k for k, item in enumerate(items) if _is_array(item) or _is_integer(item)]
        result.gathered = _gathered([items[k] for k in advanced])
        if advanced != list(range(advanced[0], advanced[-1] + 1)):
            # Separated index arrays: their dimensions come first.
            advanced = []
            result.after, result.before = _plain(dims, items, result), []
            return result
    at = advanced[0] if advanced else len(items)
    until = advanced[-1] + 1 if advanced else at
    used = _count(items[:at])
    result.before = _plain(dims[:used], items[:at], result)
    result.after = _plain(dims[used + until - at :], items[until:], result)
    if advanced and result.gathered is not None and _adds_axes(result.gathered):
        result.only_removes = False
    return result


def _adds_axes(shape: Shape) -> bool:
    return shape != Shape(())


def _plain(dims: tuple[Dim | None, ...], items: list[Value], result: _Applied) -> list[Dim | None]:
    made: list[Dim | None] = []
    left = list(dims)
    for item in items:
        if is_none(item):
            made.append(as_dim(1))
            result.only_removes = False
        elif isinstance(item, Slice):
            dim = left.pop(0) if left else None
            made.append(sliced(dim, item))
            result.only_removes = result.only_removes and item == _WHOLE
        elif left:
            left.pop(0)
    return made


def _gathered(items: list[Value]) -> Shape:
    shapes = [item.shape for item in items if isinstance(item, Array)]
    shapes += [_list_shape(item) for item in items if isinstance(item, Seq)]
    return broadcast(shapes)


def _list_shape(item: Seq) -> Shape:
    return Shape((as_dim(len(item.items)),))


def _is_array(item: Value) -> bool:
    return isinstance(item, Array) or (isinstance(item, Seq) and item.is_list)


def _is_integer(item: Value) -> bool:
    if isinstance(item, Size) or (isinstance(item, Code) and item.holds == "number"):
        return True
    return number_of(item) is not None


def _is_understood(item: Value) -> bool:
    if isinstance(item, Array):
        return item.dtype != "bool"
    if isinstance(item, Seq):
        return item.is_list and all(_is_integer(inner) for inner in item.items)
    whole = item == Const(...) or is_none(item)
    return whole or isinstance(item, Slice) or _is_integer(item)


def _count(items: list[Value]) -> int:
    """Return how many axes subscripts use."""
    return sum(not is_none(item) for item in items)


def sliced(dim: Dim | None, item: Slice) -> Dim | None:
    """Return the size of a slice of an axis.

    The bounds of a slice that are not literal are taken to lie within the axis.
    """
    step = 1 if is_none(item.step) else number_of(item.step)
    if not step:
        return None
    if dim is not None and dim.constant is not None and dim.constant >= 0:
        exact = _literal(dim.constant, item)
        if exact is not None:
            return as_dim(exact)
    if step < 0:
        if not (is_none(item.start) and is_none(item.stop)):
            return None
        return dim and dim.ceil_divided(-step)
    length = _length(dim, item)
    return None if length is None else length.ceil_divided(step)


def _literal(size: int, item: Slice) -> int | None:
    numbers: list[int | None] = []
    for bound in (item.start, item.stop, item.step):
        number = number_of(bound)
        if number is None and not is_none(bound):
            return None
        numbers.append(number)
    return len(range(*slice(*numbers).indices(size)))


def _length(dim: Dim | None, item: Slice) -> Dim | None:
    start = as_dim(0) if is_none(item.start) else dim_of(item.start)
    if start is None:
        return None
    if is_none(item.stop):
        if _is_negative(start):
            return -start
        return dim and dim - start
    stop = dim_of(item.stop)
    if stop is None:
        return None
    if _is_negative(start) == _is_negative(stop):
        return stop - start
    if dim is None:
        return None
    return stop - (dim + start) if _is_negative(start) else dim + stop - start


def _is_negative(dim: Dim) -> bool:
    return bool(dim.terms) and all(factor < 0 for _, factor in dim.terms)


def subscript(value: Value, index: Value) -> Value:
    """Return what a subscript of a value is.

    Args:
        value: What is subscripted.
        index: A literal, size, slice, array, or a `Seq` of these for a tuple.
    """
    match value:
        case Array():
            return _of_array(value, index)
        case ShapeOf(shape=shape):
            return _of_shape(shape, index)
        case Remaining():
            place = number_of(index)
            return UNKNOWN if place is None or place < 0 else value.item(place)
        case Seq():
            return _of_sequence(value, index)
        case Table(items=items):
            if isinstance(index, Const) and index.value in items:
                return items[index.value]
            return Unknown("no such key is known")
        case Code():
            return _of_code(value, index)
    return Unknown("a subscript of an unknown value")


def _of_array(array: Array, index: Value) -> Value:
    key = index.value if isinstance(index, Const) else None
    literal = isinstance(key, str | int) and not isinstance(key, bool)
    if isinstance(key, int) and array.without:
        return Array(indexed(array.shape, index), array.dtype)
    if literal and array.origin and array.shape.rank is None and not array.without:
        # A part of an argument; whether that is an array or a tuple does not matter.
        part = f"{array.origin}[{key!r}]"
        return Array(Shape((), Lead(part, None)), array.dtype, part)
    if isinstance(index, Const) and isinstance(index.value, str):
        return Unknown("a field of an array")
    return Array(indexed(array.shape, index), array.dtype)


def _of_shape(shape: Shape, index: Value) -> Value:
    number = place_in(shape, index)
    if number is not None:
        return size_value(shape.axis(number))
    if not isinstance(index, Slice) or not is_none(index.step):
        items = items_of(ShapeOf(shape))
        if items is not None and isinstance(index, Slice):
            return _slice_of(Seq(items), index)
        return Unknown("a part of a shape")
    start = 0 if is_none(index.start) else place_in(shape, index.start)
    stop = None if is_none(index.stop) else place_in(shape, index.stop)
    if start is None or (stop is None and not is_none(index.stop)):
        return Unknown("a part of a shape")
    if shape.lead is None:
        return _sequence_of(shape.dims[start:stop])
    return _of_open_shape(shape, start, stop)


def _of_open_shape(shape: Shape, start: int, stop: int | None) -> Value:
    if start < 0:
        shape = shape.expanded(-start)
        if stop is not None and stop > 0:
            return Unknown("a part of a shape")
        dims = shape.dims[len(shape.dims) + start :]
        return _sequence_of(dims[:stop])
    if stop is not None and stop >= 0:
        taken = split_front(shape, stop)[0]
        named = [_hidden(shape, k) if dim is None else dim for k, dim in enumerate(taken)]
        return _sequence_of(tuple(named[start:]))
    if stop is not None:
        shape = shape.expanded(-stop)
        shape = removed(shape, range(stop, 0))
    return ShapeOf(split_front(shape, start)[1])


def _hidden(shape: Shape, axis: int) -> Dim | None:
    """Return a size that nothing can say, but that is the same wherever it is asked for."""
    lead = shape.lead
    if lead is None or not lead.argument or None in (*shape.dims, *lead.front):
        return None
    return as_dim(Piece(f"hidden_{axis}_{crc32(repr(shape).encode())}", (OF_CALL,)))


def _sequence_of(dims: tuple[object, ...]) -> Value:
    return Seq(tuple(size_value(dim) for dim in dims))  # type: ignore[arg-type]  # sizes


def _of_sequence(value: Seq, index: Value) -> Value:
    if isinstance(index, Slice):
        return _slice_of(value, index)
    number = number_of(index)
    if number is not None:
        if -len(value.items) <= number < len(value.items):
            return value.items[number]
        return Unknown(f"item {number} of {len(value.items)}")
    if value.items and all(item == value.items[0] for item in value.items):
        return value.items[0]
    return _of_code(value, index)


def _slice_of(value: Seq, index: Slice) -> Value:
    bounds: list[int | None] = []
    for bound in (index.start, index.stop, index.step):
        number = number_of(bound)
        if number is None and not is_none(bound):
            return Unknown("a slice whose bounds are not literal")
        bounds.append(number)
    if bounds[2] == 0:
        return Unknown("a slice with step 0")
    return Seq(value.items[slice(*bounds)], value.is_list)


def _of_code(value: Value, index: Value) -> Value:
    of = code_of(value)
    at = code_of(index)
    if of is None or at is None:
        return Unknown("a subscript that is not known")
    inside = at[0][1:-1] if at[0].startswith("(-") else at[0]
    return Code(f"{of[0]}[{inside}]", bound_by(of[1], at[1]))


def unpack(value: Value, count: int, starred: int | None = None) -> list[Value] | None:
    """Return the items of a value that is unpacked: `b, *_, d = x.shape`.

    Args:
        value: What is unpacked.
        count: The number of targets.
        starred: Which of them has a star; None for none.

    Returns:
        A value for each target, a `Sequence` (or `ShapeOf`) for the one with a star. None where
        the value cannot have so many items.
    """
    if isinstance(value, ShapeOf) and value.shape.lead is not None:
        return _of_open(value.shape, count, starred)
    items = items_of(value)
    if items is None:
        return _of_others(value, count, starred)
    if starred is None:
        return list(items) if len(items) == count else None
    after = count - starred - 1
    if len(items) < count - 1:
        return None
    end = len(items) - after
    return [*items[:starred], Seq(items[starred:end], is_list=True), *items[end:]]


def _of_open(shape: Shape, count: int, starred: int | None) -> list[Value] | None:
    if starred is None:
        known = shape.with_rank(count)
        return None if known is None else [size_value(dim) for dim in known.dims]
    after = count - starred - 1
    shape = shape.expanded(after)
    at = len(shape.dims) - after
    front, rest = split_front(Shape(shape.dims[:at], shape.lead), starred)
    middle = ShapeOf(rest)
    return [*map(size_value, front), middle, *map(size_value, shape.dims[at:])]


def _of_others(value: Value, count: int, starred: int | None) -> list[Value]:
    """Return the items of arrays and of fields."""
    if isinstance(value, Array | Code) and starred is None:
        return [subscript(value, Const(k)) for k in range(count)]
    if isinstance(value, Array) and value.shape.rank:
        item = subscript(value, Const(0))
        unknown: Value = Unknown("several rows of an array")
        return [unknown if k == starred else item for k in range(count)]
    return [Unknown("a part of an unknown value")] * count


def _slice_in_dim(
    shape: Shape, start: Value, limit: Value, stride: Value = _ONE, axis: int = 0
) -> Shape:
    return changed(shape, axis, sliced(shape.axis(axis), Slice(start, limit, stride)))


def _taken(shape: Shape, at: Shape, axis: int) -> Shape:
    if axis >= 0:
        front, rest = split_front(shape, axis + 1)
        if rest.lead is None:
            return prefixed(front[:-1], Shape((*at.dims, *rest.dims), at.lead))
        return prefixed((*front[:-1], *at.dims), rest) if at.lead is None else ANY_SHAPE
    shape = shape.expanded(-axis)
    axis += len(shape.dims)
    before, after = shape.dims[:axis], shape.dims[axis + 1 :]
    if at.lead is None:
        return Shape((*before, *at.dims, *after), shape.lead)
    inner = Shape((*at.dims, *after), at.lead)
    return prefixed(before, inner) if shape.lead is None else Shape(inner.dims, ANY_SHAPE.lead)


def _taken_along(shape: Shape, at: Shape, axis: int = -1) -> Shape:
    shape, at = same_rank([shape, at])
    if not shape.rank or shape.rank != at.rank:
        if axis == -1:
            return at
        count = min(len(shape.dims), len(at.dims))
        if not -count <= axis < 0:
            return ANY_SHAPE
        last = _taken_along(Shape(shape.dims[-count:]), Shape(at.dims[-count:]), axis)
        return Shape(last.dims, Lead("", None))
    place = axis % shape.rank
    pairs = zip(shape.dims, at.dims, strict=True)
    return Shape(tuple(b if k == place else combined_dim(b, a) for k, (a, b) in enumerate(pairs)))


def _take(a: Shape, indices: Shape, axis: int | None = None) -> Shape:
    return indices if axis is None else _taken(a, indices, axis)


def _at_index(shape: Shape, axis: int = 0, keepdims: bool = True) -> Shape:
    return changed(shape, axis, as_dim(1)) if keepdims else removed(shape, (axis,))


def _numbers_decide() -> Value:
    return Unknown("a shape that depends on the numbers in an array")


def _nonzero(a: Shape, size: Dim | None = None) -> tuple[Shape, ...] | Value:
    return Unknown("the rank is not known") if a.rank is None else (Shape((size,)),) * a.rank


GATHERING: Final = by_name(
    {
        "take": rule(_take),
        "take_along_axis": rule(_taken_along, "arr indices axis"),
        "nonzero": rule(_nonzero, "a * size"),
        "unique argwhere": rule(_numbers_decide, "_"),
    }
)
LAX_GATHERING: Final = by_name(
    {
        "slice_in_dim": rule(_slice_in_dim, "operand start_index limit_index stride axis"),
        "index_in_dim dynamic_index_in_dim": rule(_at_index, "operand _ axis keepdims"),
    }
)
