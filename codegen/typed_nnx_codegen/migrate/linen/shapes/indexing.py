"""Arrays in subscripts: `x[:, 0]`, `x[..., None]`, `table[ids]`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import (
    ANY_SHAPE,
    Array,
    Code,
    Const,
    Lead,
    Seq,
    Shape,
    Size,
    Slice,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.axes import behind, is_inner, split_front, unsettled
from typed_nnx_codegen.migrate.linen.shapes.broadcasting import broadcast
from typed_nnx_codegen.migrate.linen.shapes.operands import dim_of, is_none, number_of, prefixed
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim, as_dim

_WHOLE: Final = Slice()


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
    return behind(front.dims, Shape((*rest.dims, *last.dims), rest.lead))


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
    if isinstance(item, Size) or (isinstance(item, Code) and item.is_number):
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
