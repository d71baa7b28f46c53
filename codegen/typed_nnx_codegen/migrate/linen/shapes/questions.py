"""Functions that halve an array, ask for its shape, or leave it as it is."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import (
    Array,
    Seq,
    ShapeOf,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.arguments import Arguments, Rule
from typed_nnx_codegen.migrate.linen.shapes.axes import changed
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    items_of,
    number_of,
    shape_of,
    size_value,
)
from typed_nnx_codegen.migrate.linen.shapes.operators import binary
from typed_nnx_codegen.migrate.linen.shapes.ranks import rank_size


def _glu(call: Arguments) -> Value:
    shape, axis = call.shape(0, "x"), call.integer(1, "axis", default=-1)
    if axis is None:
        return Array()
    size = shape.axis(axis)
    return Array(changed(shape, axis, None if size is None else size // 2))


def _array_or_tree(call: Arguments) -> Value:
    return call.get(0, "x", "tree", "operand", "a")


def _all(call: Arguments) -> Value:
    return Seq(call.positional, is_list=True)


def _shape(call: Arguments) -> Value:
    value = call.get(0, "a")
    return value if isinstance(value, Unknown) else ShapeOf(shape_of(value))


def _ndim(call: Arguments) -> Value:
    return rank_size(call.shape(0, "a"))


def _size(call: Arguments) -> Value:
    shape = call.shape(0, "a")
    if not call.is_none(1, "axis"):
        axis = call.integer(1, "axis", default=0)
        return size_value(None if axis is None else shape.axis(axis))
    return size_value(shape.size_from(0))


def _canonical_axes(call: Arguments) -> Value:
    """Return axes as the norms of Linen have them: a tuple, counted from the front."""
    rank, axes = call.get(0, "rank"), call.get(1, "axes")
    found: list[Value] = []
    for axis in items_of(axes) or (axes,):
        number = number_of(axis)
        if number is None:
            return Unknown("axes that are not known")
        found.append(binary("+", rank, axis) if number < 0 else axis)
    return Seq(tuple(found))


GATED: Final[dict[str, Rule]] = {"glu": _glu}
QUESTIONS: Final[dict[str, Rule]] = {"shape": _shape, "ndim": _ndim, "size": _size}
UNCHANGED: Final[dict[str, Rule]] = {
    "jax.ad_checkpoint.checkpoint_name": _array_or_tree,
    "jax.checkpoint_name": _array_or_tree,
    "jax.device_put": _array_or_tree,
    "jax.block_until_ready": _array_or_tree,
    "flax.linen.promote_dtype": _all,
    "flax.linen.dtypes.promote_dtype": _all,
    "flax.linen.normalization._canonicalize_axes": _canonical_axes,
    "flax.linen.with_logical_constraint": _array_or_tree,
    "flax.linen.partitioning.with_sharding_constraint": _array_or_tree,
    "flax.linen.spmd.with_logical_constraint": _array_or_tree,
    "jax.experimental.pjit.with_sharding_constraint": _array_or_tree,
}
