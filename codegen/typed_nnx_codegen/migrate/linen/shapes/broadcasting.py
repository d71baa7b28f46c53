"""The shape of what is made of arrays of several shapes, element by element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import ANY_SHAPE, Lead, Shape
from typed_nnx_codegen.migrate.linen.sizes.dims import (
    OF_CALL,
    ArgumentSize,
    Dim,
    ItemSize,
    LeadingSize,
    Piece,
    as_dim,
)

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
