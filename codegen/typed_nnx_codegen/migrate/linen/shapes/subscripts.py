"""What subscripts and unpacking take out of values."""

from __future__ import annotations

from zlib import crc32

from typed_nnx_codegen.migrate.linen.running.values import (
    Array,
    Code,
    Const,
    Lead,
    Seq,
    Shape,
    ShapeOf,
    Slice,
    Table,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.axes import removed, split_front
from typed_nnx_codegen.migrate.linen.shapes.indexing import indexed
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    code_of,
    common_home,
    is_none,
    items_of,
    number_of,
    size_value,
)
from typed_nnx_codegen.migrate.linen.shapes.ranks import place_in
from typed_nnx_codegen.migrate.linen.sizes.dims import OF_CALL, Dim, Piece, as_dim


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
        case Seq():
            return _of_sequence(value, index)
        case Table(items=items):
            if isinstance(index, Const) and index.value in items:
                return items[index.value]
            return Unknown("no such key is known")
        case Const(value=str() as text):
            return _of_text(text, index)
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
    return as_dim(Piece(f"hidden_{axis}_{crc32(repr(shape).encode())}", OF_CALL))


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


def _of_text(text: str, index: Value) -> Value:
    number = number_of(index)
    if number is not None and -len(text) <= number < len(text):
        return Const(text[number])
    if isinstance(index, Slice):
        letters = _slice_of(Seq(tuple(Const(letter) for letter in text)), index)
        if isinstance(letters, Seq):
            return Const("".join(str(c.value) for c in letters.items if isinstance(c, Const)))
    return Unknown("a part of a text")


def _of_code(value: Value, index: Value) -> Value:
    of = code_of(value)
    at = _slice_code(index) if isinstance(index, Slice) else code_of(index)
    if of is None or at is None:
        return Unknown("a subscript that is not known")
    home = common_home((of[1], at[1]))
    inside = at[0][1:-1] if at[0].startswith("(-") else at[0]
    return Unknown("names of two objects") if home is None else Code(f"{of[0]}[{inside}]", home)


def _slice_code(index: Slice) -> tuple[str, str] | None:
    codes = [("", "") if is_none(b) else code_of(b) for b in (index.start, index.stop, index.step)]
    known = [code for code in codes if code is not None]
    home = common_home(home for _, home in known)
    if len(known) != 3 or home is None:
        return None
    start, stop, step = (code for code, _ in known)
    return f"{start}:{stop}:{step}" if step else f"{start}:{stop}", home


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


def refined(value: Value, rank: int) -> Value:
    """Return an array or shape with a rank that is known now; itself where it has another."""
    match value:
        case Array(shape=shape, dtype=dtype, origin=origin):
            known = shape.with_rank(rank)
            return value if known is None else Array(known, dtype, origin)
        case ShapeOf(shape=shape):
            known = shape.with_rank(rank)
            return value if known is None else ShapeOf(known)
    return value
