"""The shape that `reshape` makes, with -1 for the size that follows from the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from typed_nnx_codegen.migrate.linen.running.values import ANY_SHAPE, Lead, Shape
from typed_nnx_codegen.migrate.linen.sizes.dims import (
    ArgumentSize,
    Dim,
    LeadingSize,
    as_dim,
    product,
)

_REST = as_dim(-1)


def reshaped(shape: Shape, wanted: Shape) -> Shape:
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
    common = Counter(dim for dim in have if dim is not None)
    common &= Counter(dim for dim in over if dim is not None)
    return _less(have, Counter(common)), _less(over, Counter(common))


def _less(dims: tuple[Dim | None, ...], common: Counter[Dim]) -> list[Dim | None]:
    left: list[Dim | None] = []
    for dim in dims:
        if dim is not None and common[dim]:
            common[dim] -= 1
        else:
            left.append(dim)
    return left


def _without_first(lead: Lead, over: list[Dim | None]) -> tuple[Lead, list[Dim | None]]:
    """Cancel the first dimensions of an argument."""
    while True:
        first = as_dim(ArgumentSize(lead.argument, lead.start))
        if not lead.argument or first not in over:
            return lead, over
        over = [dim for k, dim in enumerate(over) if k != over.index(first)]
        lead = replace(lead, start=lead.start + 1)


def _with_next(lead: Lead, have: list[Dim | None]) -> tuple[Lead, list[Dim | None]]:
    """Take the dimensions that follow a lead into it."""
    while lead.argument and lead.stop:
        following = as_dim(ArgumentSize(lead.argument, lead.stop))
        if following not in have:
            break
        have = [dim for k, dim in enumerate(have) if k != have.index(following)]
        lead = replace(lead, stop=lead.stop + 1 or None)
    return lead, have
