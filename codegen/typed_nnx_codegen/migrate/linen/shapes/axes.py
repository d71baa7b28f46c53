"""Shapes with axes taken away, added or changed, and the shape of arrays that broadcast."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
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
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    Array,
    Const,
    Lead,
    Shape,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import prefixed

_assumed: Final[ContextVar[list[tuple[Dim, Dim]] | None]] = ContextVar("assumed", default=None)


@contextmanager
def assumptions() -> Iterator[list[tuple[Dim, Dim]]]:
    """Collect the pairs of sizes that are taken as equal, since code combines them.

    Yields:
        The pairs, first the one that was kept. Each is equal, or the second is 1.
    """
    pairs: list[tuple[Dim, Dim]] = []
    token = _assumed.set(pairs)
    try:
        yield pairs
    finally:
        _assumed.reset(token)


def broadcast(shapes: Iterable[Shape]) -> Shape:
    """Return the shape that arrays of some shapes have after broadcasting.

    Two different symbolic sizes are taken as equal (see `assumptions`): code that combines them
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
    kept, other = (second, first) if _rank_of(second) > _rank_of(first) else (first, second)
    pairs = _assumed.get()
    if pairs is not None:
        pairs.append((kept, other))
    return kept


def _rank_of(dim: Dim) -> int:
    if dim.constant is not None:
        return 2
    atoms = list(dim.atoms())
    if any(isinstance(atom, Piece) and atom.home == OF_CALL for atom in atoms):
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
    return first is not None and any(isinstance(atom, ArgumentSize) for atom in first.atoms())


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
        return first if first.argument else second
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


def behind(front: tuple[Dim | None, ...], rest: Shape) -> Shape:
    """Return a shape of which other dimensions than before are the first."""
    return prefixed(front, rest)


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
    return behind((*front[:-1], dim), unsettled(rest, axis + 1))


def maybe_last(shape: Shape, axis: int, dim: Dim | None, last: Dim | None) -> Shape:
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
    return behind((*front, dim), unsettled(rest, axis))


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
    return behind(kept, rest)


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
    source, target = positive_axis(shape, source), positive_axis(shape, target)
    if shape.rank is not None and min(source, target) < 0:
        return ANY_SHAPE
    if shape.rank is None and {source, target} == {0, 1}:
        return _first_two_swapped(shape)
    if source >= 0 and target >= 0:
        count = max(source, target) + 1
        front, rest = split_front(shape, count)
        if len(front) < count:
            return ANY_SHAPE
        dims = list(front)
        dims.insert(target, dims.pop(source))
        return behind(tuple(dims), unsettled(rest, count))
    if source < 0 and target < 0:
        shape = shape.expanded(-min(source, target))
        dims = list(shape.dims)
        dims.insert(len(dims) + target, dims.pop(source))
        return Shape(tuple(dims), shape.lead)
    dim = shape.axis(source)
    return inserted(removed(shape, (source,)), target, dim)


def _first_two_swapped(shape: Shape) -> Shape:
    """Return a shape whose first axes changed places: by habit there is one behind them."""
    return Shape(shape.expanded(1).dims[-1:], Lead("", None))


def swapped(shape: Shape, first: int, second: int) -> Shape:
    """Return a shape with two axes in each other's place."""
    first, second = positive_axis(shape, first), positive_axis(shape, second)
    if shape.rank is not None and min(first, second) < 0:
        return ANY_SHAPE
    if shape.rank is None and {first, second} == {0, 1}:
        return _first_two_swapped(shape)
    if (first < 0) != (second < 0):
        one, other = shape.axis(first), shape.axis(second)
        return changed(changed(shape, first, other), second, one)
    if first < 0:
        shape = shape.expanded(-min(first, second))
        front: tuple[Dim | None, ...] = shape.dims
        rest = Shape((), shape.lead)
    else:
        front, rest = split_front(shape, max(first, second) + 1)
    dims = list(front)
    if max(first, second) >= len(dims):
        return ANY_SHAPE
    dims[first], dims[second] = dims[second], dims[first]
    if first < 0:
        return Shape(tuple(dims), shape.lead)
    return behind(tuple(dims), unsettled(rest, len(dims)))


SWAPPING: Final = ("jax.numpy.swapaxes", "jax.numpy.moveaxis", "numpy.swapaxes")


def ranked(args: list[Value]) -> list[Value]:
    """Return the arguments of a swap of axes; an array of unknown rank has as many as are named.

    Not where the first two change places, as time and batch do: what is behind them stays.
    """
    match args:
        case [Array(shape=shape) as array, Const(value=int() as one), Const(value=int() as other)]:
            if {one, other} == {0, 1}:
                return args
            known = shape.with_rank(max(one, other) + 1) if min(one, other) >= 0 else None
            if shape.rank is None and known is not None:
                return [replace(array, shape=known), *args[1:]]
    return args
