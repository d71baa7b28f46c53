"""Values without the axis that a transform maps over, and results with it."""

from __future__ import annotations

from typed_nnx_codegen.migrate.linen.running.values import (
    ANY_SHAPE,
    UNKNOWN,
    Array,
    Const,
    Lead,
    Seq,
    Shape,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import with_front
from typed_nnx_codegen.migrate.linen.sizes.dims import ArgumentSize, Dim, as_dim
from typed_nnx_codegen.migrate.linen.transforms.lifts import is_broadcast


def inside(value: Value, axes: Value) -> Value:
    """Return what one step or member gets of an argument.

    Args:
        value: The argument.
        axes: Its axes: one for all of it, or a tree of them.
    """
    if is_broadcast(axes):
        return value
    match value:
        case Seq(items=items):
            each = _each(axes, len(items))
            parts = (inside(one, axis) for one, axis in zip(items, each, strict=True))
            return Seq(tuple(parts), value.is_list)
        case Table(items=items):
            return Table({key: inside(one, _at(axes, key)) for key, one in items.items()})
        case Array(shape=shape, dtype=dtype):
            if isinstance(axes, Const) and isinstance(axes.value, int):
                smaller = _without(shape, axes.value)
                origin = value.origin
                if origin and (value.without or shape == Shape((), Lead(origin, None))):
                    # It may be a tuple or dict of arrays as well.
                    return Array(smaller, dtype, origin, without=(*value.without, axes.value))
                return Array(smaller, dtype)
            last = shape.axis(-1)
            return Array(Shape((last,), Lead("", None)), dtype)
        case Const():
            return value
    return UNKNOWN


def outside(value: Value, axes: Value, size: Dim | None) -> Value:
    """Return the results of all steps or members together.

    Args:
        value: The result of one.
        axes: The axes along which they are stacked.
        size: How many there are.
    """
    if is_broadcast(axes):
        return value
    match value:
        case Seq(items=items):
            each = _each(axes, len(items))
            parts = (outside(one, axis, size) for one, axis in zip(items, each, strict=True))
            return Seq(tuple(parts), value.is_list)
        case Table(items=items):
            return Table({key: outside(one, _at(axes, key), size) for key, one in items.items()})
        case Array(shape=shape, dtype=dtype):
            if isinstance(axes, Const) and isinstance(axes.value, int):
                return Array(_with(shape, axes.value, size), dtype)
            return Array(dtype=dtype)
        case Const(value=None):
            return value
    return UNKNOWN


def size_along(value: Value, axes: Value) -> Dim | None:
    """Return how many steps or members an argument has; None where it does not say."""
    if is_broadcast(axes):
        return None
    parts: list[Dim | None] = []
    match value:
        case Seq(items=items):
            each = _each(axes, len(items))
            parts = [size_along(one, axis) for one, axis in zip(items, each, strict=True)]
        case Table(items=items):
            parts = [size_along(one, _at(axes, key)) for key, one in items.items()]
        case Array(shape=shape) if isinstance(axes, Const) and isinstance(axes.value, int):
            parts = [shape.axis(axes.value)]
    return next((one for one in parts if one is not None), None)


def part_of(array: Array, path: str) -> Array:
    """Return an item of an argument that may be a tuple, a dict or an array.

    Args:
        array: The argument.
        path: The expression for the item.
    """
    shape = Shape((), Lead(path, None))
    for axis in array.without:
        shape = _without(shape, axis)
    return Array(shape, origin=path, without=array.without)


def _each(axes: Value, count: int) -> tuple[Value, ...]:
    if isinstance(axes, Seq):
        return axes.items if len(axes.items) == count else (UNKNOWN,) * count
    return (axes,) * count


def _at(axes: Value, key: object) -> Value:
    return axes.items.get(key, UNKNOWN) if isinstance(axes, Table) else axes


def _without(shape: Shape, axis: int) -> Shape:
    if axis < 0:
        longer = shape.expanded(-axis)
        position = len(longer.dims) + axis
        if position < 0:
            return ANY_SHAPE
        return Shape((*longer.dims[:position], *longer.dims[position + 1 :]), longer.lead)
    lead = shape.lead
    if lead is None:
        return Shape((*shape.dims[:axis], *shape.dims[axis + 1 :]))
    if axis < len(lead.front):
        front = [*lead.front[:axis], *lead.front[axis + 1 :]]
        return Shape(shape.dims, with_front(lead, front))
    if not lead.argument:
        return Shape(shape.dims, Lead("", None))
    before = axis - len(lead.front)
    front = [*lead.front, *_sizes(lead, before)]
    rest = Lead(lead.argument, lead.stop, lead.start + before + 1)
    return Shape(shape.dims, with_front(rest, front))


def _with(shape: Shape, axis: int, size: Dim | None) -> Shape:
    if axis < 0:
        behind = -axis - 1
        longer = shape.expanded(behind)
        position = len(longer.dims) - behind
        if position < 0:
            return ANY_SHAPE
        dims = (*longer.dims[:position], size, *longer.dims[position:])
        return Shape(dims, longer.lead)
    lead = shape.lead
    if lead is None:
        return Shape((*shape.dims[:axis], size, *shape.dims[axis:]))
    if axis <= len(lead.front):
        front = [*lead.front[:axis], size, *lead.front[axis:]]
        return Shape(shape.dims, with_front(lead, front))
    if not lead.argument:
        return Shape(shape.dims, Lead("", None))
    before = axis - len(lead.front)
    front = [*lead.front, *_sizes(lead, before), size]
    return Shape(shape.dims, with_front(Lead(lead.argument, lead.stop, lead.start + before), front))


def _sizes(lead: Lead, count: int) -> list[Dim | None]:
    return [as_dim(ArgumentSize(lead.argument, lead.start + k)) for k in range(count)]
