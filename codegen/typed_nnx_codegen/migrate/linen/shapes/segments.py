"""Reductions of the first axis by segments: `jax.ops.segment_sum` and the like."""

from __future__ import annotations

from typed_nnx_codegen.migrate.linen.running.values import Lead, Shape


def segments(shape: Shape) -> Shape:
    """Return the shape of data that is reduced by segments: only its first size differs."""
    if shape.lead is None:
        return Shape((None, *shape.dims[1:]))
    return Shape(shape.expanded(1).dims, Lead("", None))
