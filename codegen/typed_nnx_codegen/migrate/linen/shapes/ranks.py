"""Numbers of dimensions, also where they are not known, and the axes that they name."""

from __future__ import annotations

from dataclasses import replace

from typed_nnx_codegen.migrate.linen.shapes.operands import items_of, number_of
from typed_nnx_codegen.migrate.linen.values import Const, OfRank, Sequence, Shape, Unknown, Value


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
    if isinstance(value, Sequence) and items and any(isinstance(one, OfRank) for one in items):
        return replace(value, items=tuple(axes_in(shape, one) for one in items))
    return value
