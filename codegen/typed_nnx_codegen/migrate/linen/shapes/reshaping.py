"""Functions that give an array another shape or another order of its axes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

from typed_nnx_codegen.migrate.linen.domain.dims import (
    ArgumentSize,
    Dim,
    LeadingSize,
    as_dim,
    product,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    Array,
    Lead,
    Seq,
    Shape,
    ShapeOf,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.axes import (
    broadcast,
    combined_dim,
    inserted,
    moved,
    positive_axis,
    reduced,
    removed,
    swapped,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    Arguments,
    Rule,
    is_none,
    prefixed,
    shape_of,
    wanted_shape,
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


def _reshape(call: Arguments) -> Value:
    wanted = call.get(1, "shape", "newshape", "new_sizes")
    return Array(reshaped(call.shape(0, "a", "operand"), wanted_shape(wanted)))


def transposed(shape: Shape, axes: tuple[int, ...] | None) -> Shape:
    """Return a shape with its axes in another order, reversed for None."""
    if axes is None:
        return ANY_SHAPE if shape.rank is None else Shape(shape.dims[::-1])
    known = shape.with_rank(len(axes))
    if known is None or any(not -len(axes) <= axis < len(axes) for axis in axes):
        return ANY_SHAPE
    return Shape(tuple(known.dims[axis] for axis in axes))


def _transpose(call: Arguments) -> Value:
    axes = call.axes(1, "axes", "permutation")
    if axes is None and not call.is_none(1, "axes", "permutation"):
        return Array()
    return Array(transposed(call.shape(0, "a", "operand"), axes))


def _swapaxes(call: Arguments) -> Value:
    first, second = call.integer(1, "axis1", default=0), call.integer(2, "axis2", default=0)
    if first is None or second is None:
        return Array()
    return Array(swapped(call.shape(0, "a"), first, second))


def _moveaxis(call: Arguments) -> Value:
    shape = call.shape(0, "a")
    sources, targets = call.axes(1, "source"), call.axes(2, "destination")
    if sources is None or targets is None or len(sources) != len(targets):
        return Array()
    if len(sources) == 1:
        return Array(moved(shape, sources[0], targets[0]))
    if shape.rank is None:
        return Array()
    order = [k for k in range(shape.rank) if k not in {positive_axis(shape, s) for s in sources}]
    pairs = zip(targets, sources, strict=True)
    for target, source in sorted((positive_axis(shape, t), s) for t, s in pairs):
        order.insert(target, positive_axis(shape, source))
    return Array(transposed(shape, tuple(order)))


def _rollaxis(call: Arguments) -> Value:
    axis, start = call.integer(1, "axis", default=0), call.integer(2, "start", default=0)
    shape = call.shape(0, "a")
    if axis is None or start is None or axis < 0 or start < 0 or start > axis:
        return Array()
    return Array(moved(shape, axis, start))


def _expand_dims(call: Arguments) -> Value:
    shape, axes = call.shape(0, "a", "array"), call.axes(1, "axis", "dimensions")
    if not axes:
        return Array(shape) if axes is not None else Array()
    if shape.rank is not None:
        rank = shape.rank + len(axes)
        axes = tuple(sorted(axis + rank if axis < 0 else axis for axis in axes))
    elif len(axes) > 1 and not all(axis < 0 for axis in axes):
        return Array()
    for axis in sorted(axes, key=abs) if min(axes) < 0 else axes:
        shape = inserted(shape, axis, as_dim(1))
    return Array(shape)


def _squeeze(call: Arguments) -> Value:
    shape = call.shape(0, "a", "array")
    if not call.is_none(1, "axis", "dimensions"):
        axes = call.axes(1, "axis", "dimensions")
        return Array() if axes is None else Array(removed(shape, axes))
    sizes = [dim.constant if dim is not None else None for dim in shape.dims]
    if shape.rank is None or any(size is None for size in sizes):
        return Array()
    return Array(
        Shape(tuple(dim for dim, size in zip(shape.dims, sizes, strict=True) if size != 1))
    )


def _ravel(call: Arguments) -> Value:
    return Array(Shape((with_any_batch(call.shape(0, "a")).size_from(0),)))


def spread(shape: Shape, wanted: Shape) -> Shape:
    """Return the shape of an array that is broadcast to a shape."""
    if wanted.lead is not None or None in wanted.dims:
        other = wanted.expanded(len(shape.dims))
        dims = list(other.dims)
        for k in range(1, min(len(shape.dims), len(dims)) + 1):
            dims[-k] = combined_dim(shape.dims[-k], None) if dims[-k] is None else dims[-k]
        return Shape(tuple(dims), other.lead)
    return wanted


def _broadcast_to(call: Arguments) -> Value:
    wanted = wanted_shape(call.get(1, "shape"))
    return Array(spread(call.shape(0, "array"), wanted))


def _broadcast_arrays(call: Arguments) -> Value:
    shape = broadcast(map(shape_of, call.positional))
    return Seq((Array(shape),) * len(call.positional), is_list=True)


def _broadcast_shapes(call: Arguments) -> Value:
    return ShapeOf(broadcast(map(wanted_shape, call.positional)))


def _at_least(rank: int) -> Rule:
    def rule(call: Arguments) -> Value:
        shape = call.shape(0)
        if shape.rank is None:
            enough = len(shape.dims) >= rank
            return Array(shape) if enough else Array()
        one = as_dim(1)
        match rank, shape.rank:
            case (1 | 2, have) if have < rank:
                return Array(prefixed((one,) * (rank - have), shape))
            case 3, 0:
                return Array(Shape((one,) * 3))
            case 3, 1:
                return Array(Shape((one, *shape.dims, one)))
            case 3, 2:
                return Array(Shape((*shape.dims, one)))
        return Array(shape)

    return rule


def _rot90(call: Arguments) -> Value:
    turns = call.integer(1, "k", default=1)
    axes = (0, 1) if call.is_none(2, "axes") else call.axes(2, "axes")
    if turns is None or axes is None or len(axes) != 2:
        return Array()
    shape = call.shape(0, "m")
    return Array(swapped(shape, *axes) if turns % 2 else shape)


def _matrix_transpose(call: Arguments) -> Value:
    return Array(swapped(call.shape(0, "x"), -1, -2))


def _lax_broadcast(call: Arguments) -> Value:
    return Array(prefixed(wanted_shape(call.get(1, "sizes")).dims, call.shape(0, "operand")))


def _lax_broadcast_in_dim(call: Arguments) -> Value:
    return Array(wanted_shape(call.get(1, "shape")))


def _diagonal(call: Arguments) -> Value:
    shape = call.shape(0, "a")
    axes = (call.integer(2, "axis1", default=0), call.integer(3, "axis2", default=1))
    offset = call.integer(1, "offset", default=0)
    if None in axes or shape.rank is None or shape.rank < 2 or offset != 0:
        return Array()
    first, second = (shape.axis(axis) for axis in axes if axis is not None)
    rest = reduced(shape, [axis for axis in axes if axis is not None], keepdims=False)
    return Array(Shape((*rest.dims, first if first == second else None)))


def _diag(call: Arguments) -> Value:
    shape = call.shape(0, "v")
    if not is_none(call.get(1, "k")) and call.integer(1, "k", default=0) != 0:
        return Array()
    if shape.rank == 1:
        return Array(Shape(shape.dims * 2))
    if shape.rank == 2 and shape.dims[0] == shape.dims[1]:
        return Array(Shape(shape.dims[:1]))
    return Array(ANY_SHAPE if shape.rank != 2 else Shape((None,)))


RESHAPING: Final[dict[str, Rule]] = {
    "reshape": _reshape,
    "transpose": _transpose,
    "permute_dims": _transpose,
    "matrix_transpose": _matrix_transpose,
    "swapaxes": _swapaxes,
    "moveaxis": _moveaxis,
    "rollaxis": _rollaxis,
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "ravel": _ravel,
    "broadcast_to": _broadcast_to,
    "broadcast_arrays": _broadcast_arrays,
    "broadcast_shapes": _broadcast_shapes,
    "atleast_1d": _at_least(1),
    "atleast_2d": _at_least(2),
    "atleast_3d": _at_least(3),
    "rot90": _rot90,
    "diagonal": _diagonal,
    "diag": _diag,
}
LAX_RESHAPING: Final[dict[str, Rule]] = {
    "reshape": _reshape,
    "transpose": _transpose,
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "broadcast": _lax_broadcast,
    "broadcast_in_dim": _lax_broadcast_in_dim,
    "broadcast_shapes": _broadcast_shapes,
}
