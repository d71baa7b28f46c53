"""Shapes that broadcast, and shapes with axes removed, added, moved, joined or split."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Final

from typed_nnx_codegen.migrate.linen.domain.dims import (
    OF_CALL,
    ArgumentSize,
    Dim,
    ItemSize,
    LeadingSize,
    Piece,
    as_dim,
    if_ranked,
    minimum,
    product,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    NONE,
    Array,
    Const,
    Lead,
    Seq,
    Shape,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    Arguments,
    Axes,
    Wanted,
    by_name,
    dim_of,
    if_known,
    integers_of,
    is_none,
    items_of,
    names,
    number_of,
    prefixed,
    rule,
    shape_of,
)

_NOT_KNOWN: Final = Unknown("arrays that are not known one by one")
_NO_AXIS: Final = Unknown("a split along an axis that is not literal")
_XY: Final = Const("xy")
_MOST_ARRAYS: Final = 1000


def broadcast(shapes: Iterable[Shape]) -> Shape:
    """Return the shape that arrays of some shapes have after broadcasting.

    Two different symbolic sizes are taken as equal: code that combines them
    works with both. One that fields make wins, since sizes of an argument are 1 more often.
    """
    result = Shape(())
    for shape in shapes:
        result = _pair(result, shape)
    return result


def combined_dim(first: Dim | None, second: Dim | None) -> Dim | None:
    """Return the size of an axis along which arrays of two sizes are combined."""
    if first is None or second is None:
        known = first if second is None else second
        # An unknown size is mostly the same one; where both are 1 it is the unknown one.
        return None if known is None or known.constant == 1 else known
    if first == second or second.constant == 1:
        return first
    if first.constant == 1:
        return second
    return second if _rank_of(second) > _rank_of(first) else first


def _rank_of(dim: Dim) -> int:
    if dim.constant is not None:
        return 2
    atoms = list(dim.atoms())
    if any(isinstance(atom, Piece) and OF_CALL in atom.binders for atom in atoms):
        return -1
    has_argument = any(isinstance(atom, ArgumentSize | LeadingSize | ItemSize) for atom in atoms)
    return int(any(isinstance(atom, Piece) for atom in atoms) and not has_argument)


def _pair(first: Shape, second: Shape) -> Shape:
    if first == second or second == Shape(()):
        return first
    if first == Shape(()):
        return second
    if first.lead is None and second.lead is None:
        return Shape(_dims(first.dims, second.dims))
    settled = [shape for shape in (first, second) if shape.lead is None and _is_data(shape)]
    if settled:
        # Code seldom broadcasts batches of data to a larger rank.
        count = len(settled[0].dims)
        other = second if settled[0] is first else first
        known = (other.with_rank(count) or other) if other.lead else other
        if len(known.dims) <= count:
            pair = (settled[0].dims, known.dims)
            return Shape(_dims(*(pair if settled[0] is first else pair[::-1])))
    if ANY_SHAPE in (first, second):
        return _with_any(second if first == ANY_SHAPE else first)
    count = max(len(first.dims), len(second.dims))
    first, second = first.expanded(count), second.expanded(count)
    return Shape(_dims(first.dims, second.dims), _lead(first.lead, second.lead))


def _is_data(shape: Shape) -> bool:
    """Whether an array is surely not a vector or matrix of weights that is broadcast."""
    if len(shape.dims) > 2:
        return True
    first = shape.dims[0] if len(shape.dims) == 2 else None
    # As many rows as an argument has: as many as another axis has are positions in a sequence.
    return first is not None and any(
        isinstance(atom, ArgumentSize) and atom.axis == 0 for atom in first.atoms()
    )


def _with_any(shape: Shape) -> Shape:
    # Mostly a number or an array of the same shape; with a known rank it may have a larger one.
    return shape if shape.lead is not None else Shape(shape.dims, Lead("", None))


def _dims(first: tuple[Dim | None, ...], second: tuple[Dim | None, ...]) -> tuple[Dim | None, ...]:
    count = max(len(first), len(second))
    ones: tuple[Dim | None, ...] = (as_dim(1),) * count
    longer, shorter = ((ones + dims)[len(dims) :] for dims in (first, second))
    return tuple(combined_dim(a, b) for a, b in zip(longer, shorter, strict=True))


def _lead(first: Lead | None, second: Lead | None) -> Lead | None:
    if first is None or second is None:
        return first or second
    if not first.argument or not second.argument:
        known, other = (first, second) if first.argument else (second, first)
        return Lead("", None) if other.front and other.front != known.front else known
    plain = [lead for lead in (first, second) if not lead.front and not lead.start]
    return plain[0] if plain else first


def split_front(shape: Shape, count: int) -> tuple[tuple[Dim | None, ...], Shape]:
    """Return the first dimensions of a shape, and the shape that the others make."""
    lead = shape.lead
    if lead is None:
        return shape.dims[:count], Shape(shape.dims[count:])
    taken = tuple(shape.axis(axis) for axis in range(count))
    front = list(lead.front[count:])
    beyond = max(count - len(lead.front), 0)
    sure = None if lead.sure is None else max(lead.sure - beyond, 0)
    if lead.front and not front and not shape.dims:
        # Dimensions of the argument alone: from the end they are its last.
        sure = None
    rest = Lead(lead.argument, lead.stop, lead.start + beyond, tuple(front), sure)
    return taken, Shape(shape.dims, rest)


def unsettled(rest: Shape, taken: int) -> Shape:
    """Return what is left of a shape where it is not sure that something is left.

    Args:
        rest: The shape behind the dimensions that were taken from the front.
        taken: How many were taken.
    """
    lead = rest.lead
    if lead is None or not taken:
        return rest
    if rest.dims and taken > 1:
        return Shape((), Lead("", None, front=lead.front))
    if rest.dims:
        return rest
    return Shape((), replace(lead, sure=0 if lead.sure is None else lead.sure))


def positive_axis(shape: Shape, axis: int) -> int:
    """Return an axis counted from the front where the rank is known, else as it is."""
    rank = shape.rank
    return axis + rank if rank is not None and axis < 0 else axis


def changed(shape: Shape, axis: int, dim: Dim | None) -> Shape:
    """Return a shape with another size along an axis."""
    axis = positive_axis(shape, axis)
    if axis < 0:
        shape = shape.expanded(-axis)
        dims = list(shape.dims)
        if -axis > len(dims):
            return ANY_SHAPE
        dims[axis] = dim
        return Shape(tuple(dims), shape.lead)
    front, rest = split_front(shape, axis + 1)
    if len(front) <= axis:
        return ANY_SHAPE
    return prefixed((*front[:-1], dim), unsettled(rest, axis + 1))


def _maybe_last(shape: Shape, axis: int, dim: Dim | None, last: Dim | None) -> Shape:
    """Return a shape with another size along an axis, which may be the last one.

    Args:
        shape: The shape.
        axis: The axis.
        dim: The size along it.
        last: The size along it where it is the last axis.
    """
    found, lead = changed(shape, axis, dim), shape.lead
    is_known = bool(found.expanded(1).dims) and found.axis(-1) is not None
    if is_known or axis < 0 or lead is None or not lead.argument or lead.sure is not None:
        return found
    end = shape.dims[-1] if shape.dims else None
    if end is None or last is None:
        return found
    count = axis + 1 - len(shape.dims) - len(lead.front)
    size = if_ranked(LeadingSize(lead.argument, lead.start, lead.stop), count, last, end)
    return Shape((size,), Lead("", None))


def inserted(shape: Shape, axis: int, dim: Dim | None) -> Shape:
    """Return a shape with one more axis; a negative one is counted in the result."""
    rank = shape.rank
    if rank is not None and axis < 0:
        axis += rank + 1
    if axis < 0:
        shape = shape.expanded(-axis - 1)
        at = len(shape.dims) + axis + 1
        return Shape((*shape.dims[:at], dim, *shape.dims[at:]), shape.lead)
    front, rest = split_front(shape, axis)
    return prefixed((*front, dim), unsettled(rest, axis))


def removed(shape: Shape, axes: Collection[int]) -> Shape:
    """Return a shape without some axes."""
    axes = {positive_axis(shape, axis) for axis in axes}
    negative = sorted(axis for axis in axes if axis < 0)
    if negative:
        shape = shape.expanded(-negative[0])
        last = len(shape.dims)
        dims = tuple(dim for k, dim in enumerate(shape.dims) if k - last not in negative)
        shape = Shape(dims, shape.lead)
    positive = [axis for axis in axes if axis >= 0]
    if not positive:
        return shape
    front, rest = split_front(shape, max(positive) + 1)
    kept = tuple(dim for k, dim in enumerate(front) if k not in positive)
    if not is_inner(positive):
        rest = unsettled(rest, max(positive) + 1)
    return prefixed(kept, rest)


def is_inner(axes: Collection[int]) -> bool:
    """Whether axes counted from the front are, by all habit, not the last of an array.

    Code takes the mean over axis 1 of a sequence, over 1 and 2 of an image; but axis 2 alone is
    as often the last one.
    """
    return {0, *axes} == set(range(max(axes) + 1))


def reduced(shape: Shape, axes: Collection[int] | None, *, keepdims: bool | None) -> Shape:
    """Return the shape of a reduction over some axes, over all for None."""
    if keepdims is None:
        return ANY_SHAPE
    if axes is None:
        if not keepdims:
            return Shape(())
        return ANY_SHAPE if shape.lead is not None else Shape((as_dim(1),) * len(shape.dims))
    if not keepdims:
        return removed(shape, axes)
    for axis in sorted(axes):
        shape = changed(shape, axis, as_dim(1))
    return shape


def moved(shape: Shape, source: int, target: int) -> Shape:
    """Return a shape with an axis at another place."""

    def insert(dims: list[Dim | None], first: int, second: int) -> None:
        dims.insert(second, dims.pop(first))

    made = _reordered(shape, source, target, insert)
    if made is not None:
        return made
    return inserted(removed(shape, (source,)), target, shape.axis(source))


def swapped(shape: Shape, first: int, second: int) -> Shape:
    """Return a shape with two axes in each other's place."""

    def swap(dims: list[Dim | None], one: int, other: int) -> None:
        dims[one], dims[other] = dims[other], dims[one]

    made = _reordered(shape, first, second, swap)
    if made is not None:
        return made
    return changed(changed(shape, first, shape.axis(second)), second, shape.axis(first))


def _reordered(
    shape: Shape, first: int, second: int, reorder: Callable[[list[Dim | None], int, int], None]
) -> Shape | None:
    """Return a shape with its axes in another order; None where an axis is counted from each end."""
    first, second = positive_axis(shape, first), positive_axis(shape, second)
    if shape.rank is not None and min(first, second) < 0:
        return ANY_SHAPE
    if shape.rank is None and {first, second} == {0, 1}:
        # By habit there is an axis behind them.
        return Shape(shape.expanded(1).dims[-1:], Lead("", None))
    if (first < 0) != (second < 0):
        return None
    if first < 0:
        shape = shape.expanded(-min(first, second))
        dims, rest = list(shape.dims), Shape((), shape.lead)
    else:
        count = max(first, second) + 1
        front, rest = split_front(shape, count)
        dims, rest = list(front), unsettled(rest, count)
        if len(dims) < count:
            return ANY_SHAPE
    reorder(dims, first % len(dims), second % len(dims))
    return prefixed(dims, rest) if first >= 0 else Shape(tuple(dims), shape.lead)


def _ranked(shape: Shape, first: int, second: int) -> Shape:
    """Return a shape with as many axes as are named where its rank is not known.

    Not where the first two change places, as time and batch do: what is behind them stays.
    """
    if shape.rank is not None or min(first, second) < 0 or {first, second} == {0, 1}:
        return shape
    return shape.with_rank(max(first, second) + 1) or shape


def _swapaxes(shape: Shape, first: int, second: int) -> Shape:
    return swapped(_ranked(shape, first, second), first, second)


_REST: Final = as_dim(-1)


def reshaped(shape: Shape, wanted: Wanted) -> Shape:
    """Return the shape of an array that is reshaped.

    Args:
        shape: The shape of the array.
        wanted: What it is reshaped to, -1 for what follows from the rest.
    """
    if _REST not in wanted.dims and (wanted.lead is None or _REST not in wanted.lead.front):
        return wanted
    if wanted.lead is not None and _REST in wanted.lead.front:
        return ANY_SHAPE
    is_literal = all(dim is not None and dim.constant is not None for dim in wanted.dims)
    if wanted.lead is None and is_literal:
        shape = with_any_batch(shape)
    rest = _rest(shape, Shape(tuple(dim for dim in wanted.dims if dim != _REST), wanted.lead))
    return Shape(tuple(rest if dim == _REST else dim for dim in wanted.dims), wanted.lead)


def _rest(shape: Shape, others: Shape) -> Dim | None:
    if others.lead is not None:
        return _rest_behind_lead(shape, others)
    if shape.lead is not None:
        shape = shape.expanded(_deepest(others.dims, shape.lead.argument))
    front = () if shape.lead is None else shape.lead.front
    have, over = _cancelled((*front, *shape.dims), others.dims)
    lead = shape.lead and replace(shape.lead, front=())
    if lead is not None:
        lead, over = _without_first(lead, over)
        lead, have = _with_next(lead, have)
    known = [dim for dim in have if dim is not None]
    by = [dim for dim in over if dim is not None]
    if len(known) != len(have) or len(by) != len(over):
        return None
    total = product(known)
    if lead is not None:
        if not lead.argument:
            return None
        total = total * as_dim(LeadingSize(lead.argument, lead.start, lead.stop))
    return total // product(by) if by else total


def with_any_batch(shape: Shape) -> Shape:
    """Return a shape whose first dimension is that of an argument as leading dimensions.

    Layers tell the rank of arguments, but an argument without a batch axis works as well.
    """
    first = shape.dims[0].atom if shape.lead is None and shape.dims and shape.dims[0] else None
    count = len(shape.dims)
    if not isinstance(first, ArgumentSize) or first.axis != -count or count < 2:
        return shape
    return Shape(shape.dims[1:], Lead(first.argument, 1 - count))


def _rest_behind_lead(shape: Shape, others: Shape) -> Dim | None:
    """Return the size behind leading dimensions that both shapes have."""
    lead, wanted = shape.lead, others.lead
    if lead is None or wanted is None or not lead.argument:
        return None
    shape = shape.expanded(len(shape.dims) + (lead.stop or 0) - (wanted.stop or 0))
    others = others.expanded(len(others.dims) + (wanted.stop or 0) - (lead.stop or 0))
    lead, wanted = shape.lead, others.lead
    if lead is None or wanted is None or replace(lead, sure=None) != replace(wanted, sure=None):
        return None
    return _rest(Shape(shape.dims), Shape(others.dims))


def _deepest(dims: tuple[Dim | None, ...], argument: str) -> int:
    """Return how many last dimensions of an argument some sizes are made of."""
    atoms = (atom for dim in dims if dim is not None for atom in dim.atoms())
    axes = [
        -atom.axis
        for atom in atoms
        if isinstance(atom, ArgumentSize) and atom.argument == argument and atom.axis < 0
    ]
    return max(axes, default=0)


def _cancelled(
    have: tuple[Dim | None, ...], over: tuple[Dim | None, ...]
) -> tuple[list[Dim | None], list[Dim | None]]:
    left, rest = list(have), list(over)
    for dim in have:
        if dim is not None and dim in rest:
            left.remove(dim)
            rest.remove(dim)
    return left, rest


def _without_first(lead: Lead, over: list[Dim | None]) -> tuple[Lead, list[Dim | None]]:
    """Cancel the first dimensions of an argument."""
    while lead.argument and (first := as_dim(ArgumentSize(lead.argument, lead.start))) in over:
        over.remove(first)
        lead = replace(lead, start=lead.start + 1)
    return lead, over


def _with_next(lead: Lead, have: list[Dim | None]) -> tuple[Lead, list[Dim | None]]:
    """Take the dimensions that follow a lead into it."""
    while lead.argument and lead.stop:
        following = as_dim(ArgumentSize(lead.argument, lead.stop))
        if following not in have:
            break
        have.remove(following)
        lead = replace(lead, stop=lead.stop + 1 or None)
    return lead, have


def _raveled(shape: Shape) -> Shape:
    return Shape((with_any_batch(shape).size_from(0),))


def transposed(shape: Shape, axes: Axes | None = None) -> Shape:
    """Return a shape with its axes in another order, reversed for None."""
    if axes is None:
        is_open = shape.rank is None
        return Shape((shape.axis(0),), Lead("", None)) if is_open else Shape(shape.dims[::-1])
    known = shape.with_rank(len(axes))
    if known is None or any(not -len(axes) <= axis < len(axes) for axis in axes):
        return ANY_SHAPE
    return Shape(tuple(known.dims[axis] for axis in axes))


def _moveaxis(shape: Shape, source: Axes, destination: Axes) -> Shape:
    if len(source) != len(destination):
        return ANY_SHAPE
    if len(source) == 1:
        shape = _ranked(shape, source[0], destination[0])
        return moved(shape, source[0], destination[0])
    if shape.rank is None:
        return ANY_SHAPE
    places = [positive_axis(shape, axis) for axis in source]
    order = [axis for axis in range(shape.rank) if axis not in places]
    targets = (positive_axis(shape, axis) for axis in destination)
    for target, place in sorted(zip(targets, places, strict=True)):
        order.insert(target, place)
    return transposed(shape, tuple(order))


def _expanded_dims(shape: Shape, axes: Axes) -> Shape:
    if shape.rank is not None:
        rank = shape.rank + len(axes)
        axes = tuple(sorted(axis + rank if axis < 0 else axis for axis in axes))
    elif len(axes) > 1 and not all(axis < 0 for axis in axes):
        return ANY_SHAPE
    for axis in sorted(axes, key=abs):
        shape = inserted(shape, axis, as_dim(1))
    return shape


def _squeezed(shape: Shape, axes: Axes | None = None) -> Shape:
    if axes is not None:
        return removed(shape, axes)
    sizes = [None if dim is None else dim.constant for dim in shape.dims]
    if shape.rank is None or None in sizes:
        return ANY_SHAPE
    return Shape(tuple(as_dim(size) for size in sizes if size is not None and size != 1))


def _spread(shape: Shape, wanted: Shape) -> Shape:
    if wanted.lead is not None or None in wanted.dims:
        other = wanted.expanded(len(shape.dims))
        dims = list(other.dims)
        for k in range(1, min(len(shape.dims), len(dims)) + 1):
            dims[-k] = combined_dim(shape.dims[-k], None) if dims[-k] is None else dims[-k]
        return Shape(tuple(dims), other.lead)
    return wanted


def _at_least(rank: int, shape: Shape) -> Shape:
    one, have = as_dim(1), shape.rank
    if have is None and rank < 3 and not shape.dims:
        return Shape(shape.expanded(1).dims, Lead("", None))
    if have is None:
        # Axes come first, but for the last one of three.
        return shape if len(shape.dims) >= (rank if rank > 2 else 1) else ANY_SHAPE
    if have >= rank:
        return shape
    if rank < 3 or not have:
        return Shape((one,) * (rank - have) + shape.dims)
    return Shape((one, *shape.dims, one) if have == 1 else (*shape.dims, one))


def same_rank(shapes: list[Shape]) -> list[Shape]:
    """Return shapes of arrays of one rank, which is known if one is."""
    ranks = {shape.rank for shape in shapes} - {None}
    if len(ranks) != 1:
        return shapes
    (rank,) = ranks
    assert rank is not None
    return [shape.with_rank(rank) or shape for shape in shapes]


def _concatenated(shapes: list[Shape], axis: int) -> Shape:
    open_ones = [one for one in shapes if one.lead is not None]
    is_uneven = len({len(one.lead.front) for one in open_ones if one.lead is not None}) > 1
    if axis >= 0 and is_uneven and any(one.dims for one in open_ones):
        # The last axis of one, which is known, may be the axis of another.
        return changed(_common(shapes, axis), axis, None)
    return changed(_common(shapes, axis), axis, _sum([shape.axis(axis) for shape in shapes]))


def _in_a_row(shapes: list[Shape]) -> Shape:
    return Shape((_sum([shape.size_from(0) for shape in shapes]),))


def _sum(sizes: list[Dim | None]) -> Dim | None:
    return if_known(lambda *known: sum(known, start=as_dim(0)), *sizes)


def _stacked(shapes: list[Shape], axis: int) -> Shape:
    return inserted(_common(shapes, None), axis, as_dim(len(shapes)))


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


def _tiled(shape: Shape, factors: tuple[Dim | None, ...]) -> Shape:
    if shape.lead is not None and len(factors) > max(len(shape.dims), 1):
        # The array may have fewer axes than there are factors.
        shape = Shape(shape.expanded(1).dims, ANY_SHAPE.lead)
        factors = factors[-len(shape.dims) :]
    shape = shape.expanded(len(factors))
    ones: tuple[Dim | None, ...] = (as_dim(1),) * max(len(shape.dims), len(factors))
    sizes, by = (ones[len(dims) :] + dims for dims in (shape.dims, factors))
    return Shape(
        tuple(if_known(Dim.__mul__, *pair) for pair in zip(sizes, by, strict=True)), shape.lead
    )


def _arrays(value: Value) -> list[Shape] | None:
    """Return the shapes of the arrays in a list, all with the rank that one of them has."""
    if isinstance(value, Array) and value.shape.rank and value.shape.dims[0] is not None:
        count = value.shape.dims[0].constant
        few = count is not None and 0 < count < _MOST_ARRAYS
        return [Shape(value.shape.dims[1:])] * (count or 0) if few else None
    if not isinstance(value, Seq) or not value.items:
        return None
    return same_rank([shape_of(item) for item in value.items])


def _concatenate(arrays: Value, axis: int | None = 0) -> Shape | Value:
    if axis is None and isinstance(arrays, Seq):
        return _in_a_row([shape_of(item) for item in arrays.items])  # of any ranks
    shapes = _arrays(arrays)
    if shapes is None or axis is None:
        return _rows(arrays.shape, axis) if isinstance(arrays, Array) else _NOT_KNOWN
    return _concatenated(shapes, axis)


def _rows(shape: Shape, axis: int | None) -> Shape | Value:
    """Return the shape of the rows of an array one after the other; there are any number."""
    if axis is None:
        return Shape((shape.size_from(0),))
    if shape.rank is None or shape.rank < 2:
        return _NOT_KNOWN
    row = Shape(shape.dims[1:])
    return changed(row, axis, if_known(Dim.__mul__, shape.dims[0], row.axis(axis)))


def _stack(arrays: Value, axis: int = 0) -> Shape | Value:
    shapes = _arrays(arrays)
    return _NOT_KNOWN if shapes is None else _stacked(shapes, axis)


def _stacked_along(axis: int, arrays: Value) -> Shape | Value:
    """Return the result of `vstack`, `hstack` or `dstack`: arrays have more axes first."""
    shapes = _arrays(arrays)
    if shapes is None:
        return _NOT_KNOWN
    rank = shapes[0].rank
    if rank is None:
        return ANY_SHAPE
    if axis == 1:
        return _concatenated([_at_least(1, one) for one in shapes], 0 if rank < 2 else 1)
    return _concatenated([_at_least(3 if axis else 2, one) for one in shapes], axis)


def _kron(a: Shape, b: Shape) -> Shape:
    return _tiled(a, b.dims) if b.lead is None else ANY_SHAPE


def _split(shape: Shape, where: Value, axis: int = 0, *, exact: bool = True) -> list[Shape] | Value:
    """Return the parts of an array: all of one size, or the first ones larger by one."""
    size, count = shape.axis(axis), number_of(where)
    if count is not None and count > 0:
        end = shape.dims[-1] if shape.dims else None
        more = reversed(range(count))
        if exact:
            size, end = (if_known(partial(Dim.part, count=count), dim) for dim in (size, end))
            return [_maybe_last(shape, axis, size, end)] * count
        sizes = [[_divided(dim, by, count) for dim in (size, end)] for by in more]
        return [_maybe_last(shape, axis, *pair) for pair in sizes]
    items = items_of(where)
    if items is None:
        return Unknown("a split into a number of parts that is not literal")
    bounds = pairwise([as_dim(0), *map(dim_of, items), size])
    return [changed(shape, axis, if_known(_between, *pair)) for pair in bounds]


def _divided(size: Dim | None, more: int, count: int) -> Dim | None:
    return None if size is None else (size + more) // count


def _between(start: Dim, end: Dim) -> Dim:
    return end - start


def _tile(shape: Shape, times: Value) -> Shape:
    items = items_of(times) if dim_of(times) is None else (times,)
    return ANY_SHAPE if items is None else _tiled(shape, tuple(map(dim_of, items)))


def _repeat(shape: Shape, times: Value, axis: int | None = None, total: Value = NONE) -> Shape:
    if axis is None:
        shape, axis = Shape((shape.size_from(0),)), 0
    if not is_none(total):
        return changed(shape, axis, dim_of(total))
    numbers = integers_of(times) or ()
    factor = dim_of(times) if len(numbers) != 1 else as_dim(numbers[0])
    if factor is None and numbers:
        return changed(shape, axis, as_dim(sum(numbers)))
    return changed(shape, axis, if_known(Dim.__mul__, shape.axis(axis), factor))


def _pad(shape: Shape, widths: Value) -> Shape:
    pairs = _pad_widths(widths)
    if len(pairs) == 1 and shape.lead is None:
        pairs *= len(shape.dims)
    known = shape.with_rank(len(pairs)) if len(pairs) > 1 else shape
    if known is None or known.lead is not None or len(known.dims) != len(pairs):
        return ANY_SHAPE
    sizes = zip(known.dims, pairs, strict=True)
    return Shape(tuple(if_known(_added, dim, *pair) for dim, pair in sizes))


def _added(size: Dim, low: Dim, high: Dim, between: Dim | None = None) -> Dim:
    return size + low + high + (as_dim(0) if between is None else (size - 1) * between)


def _pad_widths(value: Value) -> list[list[Dim | None]]:
    """Return how much there is before and behind each axis; one pair for all axes."""
    items = items_of(value)
    if items is None:
        return [[dim_of(value)] * 2]
    alone = [dim_of(item) for item in items]
    if None not in alone and len(items) < 3:
        return [[alone[0], alone[-1]]] if alone else []
    ends = [[dim_of(end) for end in items_of(item) or (item,)] for item in items]
    # `jax.lax.pad` says, too, how much there is between the items.
    return [pair if len(pair) == 3 else [*pair[:1], *pair[-1:]] or [None, None] for pair in ends]


def _meshgrid(call: Arguments) -> Value:
    sizes = [shape_of(value).size_from(0) for value in call.positional]
    indexing = call.get(None, "indexing", default=_XY)
    if indexing == _XY and len(sizes) > 1:
        sizes[0], sizes[1] = sizes[1], sizes[0]
    return Seq((Array(Shape(tuple(sizes))),) * len(sizes), is_list=True)


JOINING: Final = by_name(
    {
        "concatenate concat": rule(_concatenate, "arrays axis"),
        "stack": rule(_stack, "arrays axis", unclear=_NOT_KNOWN),
        "vstack": rule(partial(_stacked_along, 0), "tup"),
        "hstack": rule(partial(_stacked_along, 1), "tup"),
        "dstack": rule(partial(_stacked_along, 2), "tup"),
        "split": rule(_split, "ary indices_or_sections axis", unclear=_NO_AXIS),
        "array_split": rule(
            partial(_split, exact=False), "ary indices_or_sections axis", unclear=_NO_AXIS
        ),
        "tile": rule(_tile, "A reps"),
        "kron": rule(_kron),
        "repeat": rule(_repeat, "a repeats axis total_repeat_length"),
        "pad": rule(_pad, "array pad_width"),
        "meshgrid": _meshgrid,
    }
)


def _broadcast_in_front(shape: Shape, sizes: Wanted) -> Shape:
    return prefixed(sizes.dims, shape)


def _broadcast_to(shape: Shape, wanted: Wanted) -> Shape:
    return _spread(shape, wanted)


def _matrix_transpose(x: Shape) -> Shape:
    return swapped(x, -1, -2)


def _trace(shape: Shape) -> Shape:
    return removed(shape, (0, 1))


def diagonal(shape: Shape, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Shape:
    """Return the shape of the diagonals of matrices; another than the main one may be shorter."""
    if shape.rank is not None and shape.rank < 2:
        return ANY_SHAPE
    size = None if offset else if_known(minimum, shape.axis(axis1), shape.axis(axis2))
    return inserted(removed(shape, (axis1, axis2)), -1, size)


def _diag(shape: Shape, k: int = 0) -> Shape:
    if shape.rank == 1:
        return _diagflat(shape, k)
    return ANY_SHAPE if shape.rank is None else diagonal(shape, k)


def _diagflat(shape: Shape, k: int = 0) -> Shape:
    return Shape((if_known(lambda size: size + abs(k), shape.size_from(0)),) * 2)


RESHAPING: Final = by_name(
    {
        "reshape": rule(reshaped, "a|operand shape|newshape|new_sizes"),
        "transpose permute_dims": rule(transposed, "a|operand axes|permutation"),
        "matrix_transpose": rule(_matrix_transpose),
        "swapaxes": rule(_swapaxes, "a axis1 axis2"),
        "moveaxis": rule(_moveaxis, "a source destination"),
        "expand_dims": rule(_expanded_dims, "a|array axis|dimensions"),
        "squeeze": rule(_squeezed, "a|array axis|dimensions"),
        "trace": rule(_trace, "a"),
        "diagonal": rule(diagonal, "a offset axis1 axis2"),
        "diag": rule(_diag, "v k"),
        "ravel": rule(_raveled, "a"),
        "broadcast_to": rule(_broadcast_to, "array shape"),
        **{f"atleast_{rank}d": rule(partial(_at_least, rank)) for rank in (1, 2, 3)},
    }
)
LAX_RESHAPING: Final = {
    **{name: RESHAPING[name] for name in names("reshape transpose expand_dims squeeze")},
    **by_name(
        {
            "concatenate": rule(_concatenate, "operands dimension"),
            "broadcast": rule(_broadcast_in_front, "operand sizes"),
            "pad": rule(_pad, "operand _ padding_config"),
        }
    ),
}
