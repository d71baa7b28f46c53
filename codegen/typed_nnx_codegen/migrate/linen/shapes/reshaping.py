"""Functions that give an array another shape or another order of its axes."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import (
    ANY_SHAPE,
    Array,
    Seq,
    Shape,
    ShapeOf,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.arguments import Arguments, Rule
from typed_nnx_codegen.migrate.linen.shapes.axes import (
    inserted,
    moved,
    positive_axis,
    reduced,
    removed,
    swapped,
)
from typed_nnx_codegen.migrate.linen.shapes.broadcasting import broadcast, combined_dim
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    is_none,
    prefixed,
    shape_of,
    wanted_shape,
)
from typed_nnx_codegen.migrate.linen.shapes.totals import reshaped, with_any_batch
from typed_nnx_codegen.migrate.linen.sizes.dims import as_dim


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
