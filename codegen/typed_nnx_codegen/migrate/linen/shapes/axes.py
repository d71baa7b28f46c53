"""Shapes with axes taken away, added or changed; the rank need not be known.

Where it is not, an axis that is counted from the front is taken to lie before the dimensions that
are known from the end. What may still be said of the last dimensions follows from that.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from typed_nnx_codegen.migrate.linen.running.values import ANY_SHAPE, Lead, Shape
from typed_nnx_codegen.migrate.linen.shapes.operands import prefixed
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim, LeadingSize, as_dim, if_ranked


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
