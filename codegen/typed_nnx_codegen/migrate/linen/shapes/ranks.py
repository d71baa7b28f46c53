"""Numbers of dimensions, also where they are not known, and the axes that they name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import (
    Const,
    Lead,
    OfRank,
    Seq,
    Shape,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import items_of, number_of
from typed_nnx_codegen.migrate.linen.sizes.dims import (
    ArgumentSize,
    Atom,
    Combined,
    Dim,
    LeadingSize,
    as_dim,
)

# How many of the last dimensions of two arguments are told apart.
_EXPANDED: Final = 3


def rank_size(shape: Shape) -> Value:
    """Return the number of dimensions."""
    if shape.rank is not None:
        return Const(shape.rank)
    lead = shape.lead
    if lead is None or not lead.argument:
        return Unknown("the rank is not known")
    plus = len(shape.dims) + len(lead.front) - lead.start + (lead.stop or 0)
    return OfRank("the rank is not known", argument=lead.argument, plus=plus)


def moved_by(rank: OfRank, number: int) -> OfRank:
    """Return a number of dimensions with a number added; its own code says no more."""
    return replace(rank, plus=rank.plus + number, code="")


def place_in(shape: Shape, value: Value) -> int | None:
    """Return the axis of a shape, or the end of its dimensions, that a value names; None if unknown."""
    if not isinstance(value, OfRank):
        return number_of(value)
    rank = rank_size(shape)
    if not isinstance(rank, OfRank) or rank.argument != value.argument:
        return None
    place = value.plus - rank.plus
    return place if place < 0 else None


def axes_in(shape: Shape, value: Value) -> Value:
    """Return axes of a shape with those counted from the end that are said by its rank."""
    if isinstance(value, OfRank):
        place = place_in(shape, value)
        return value if place is None else Const(place)
    items = items_of(value)
    if isinstance(value, Seq) and items and any(isinstance(one, OfRank) for one in items):
        return replace(value, items=tuple(axes_in(shape, one) for one in items))
    return value


def aligned(one: Shape, other: Shape) -> tuple[Shape, Shape]:
    """Return two shapes with the same number of dimensions one by one, from the end."""
    one, other = _with_equal_ranks(one, other)
    count = max(len(one.dims), len(other.dims), _EXPANDED if one.lead != other.lead else 0)
    first, second = one.expanded(count), other.expanded(count)
    if len(first.dims) == len(second.dims):
        return first, second
    count = min(len(first.dims), len(second.dims))
    return _cut(first, count), _cut(second, count)


def _cut(shape: Shape, count: int) -> Shape:
    if len(shape.dims) == count and shape.lead is not None:
        return shape
    return Shape(shape.dims[len(shape.dims) - count :], Lead("", None))


def _with_equal_ranks(one: Shape, other: Shape) -> tuple[Shape, Shape]:
    """Return two shapes of the same rank, which only one of them may say.

    It says the rank of the argument that the other one is made of, too: sizes of that one are
    counted from the end then. Its own are not: where it is made the argument may have another rank,
    `if x.ndim > 3: x = x.reshape(...)`.
    """
    if (one.rank is None) == (other.rank is None):
        return one, other
    told, known = (one, other) if one.rank is None else (other, one)
    rank, plus = known.rank or 0, rank_size(told)
    told_of = told.with_rank(rank) or told
    if isinstance(plus, OfRank):
        told_of = _from_end(told_of, plus.argument, rank - plus.plus)
    return (told_of, known) if told is one else (known, told_of)


def _from_end(shape: Shape, argument: str, rank: int) -> Shape:
    """Return a shape with the sizes of an argument counted from the end."""
    dims = tuple(
        None if dim is None else dim.replaced(dict(_settled(dim, argument, rank)))
        for dim in shape.dims
    )
    return replace(shape, dims=dims)


def _settled(dim: Dim, argument: str, rank: int) -> Iterator[tuple[Atom, Dim]]:
    """Yield the parts of a size that are sizes of an argument of which the rank is known now."""
    for atoms, _ in dim.terms:
        for atom in atoms:
            match atom:
                case ArgumentSize(argument=name, axis=axis) if name == argument and axis >= 0:
                    yield atom, as_dim(ArgumentSize(argument, axis - rank))
                case Combined(operation="at"):
                    found = _placed(atom, argument, rank)
                    if found is not None:
                        yield atom, found
                case Combined(parts=parts):
                    for part in parts:
                        yield from _settled(part, argument, rank)


def _placed(atom: Combined, argument: str, rank: int) -> Dim | None:
    """Return a size that is said by its place among those of an argument; None for another one."""
    place, count, leading, *around = atom.parts
    at, front = place.constant, count.constant or 0
    match leading.atom:
        case LeadingSize(argument=name, start=start, stop=stop) if name == argument:
            axes = range(start - rank, stop or 0)
            sizes = [*around[:front], *(as_dim(ArgumentSize(argument, k)) for k in axes)]
            sizes += around[front:]
            if at is not None and -len(sizes) <= at < len(sizes):
                return sizes[at].replaced(dict(_settled(sizes[at], argument, rank)))
    return None
