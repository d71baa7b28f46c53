"""Comparisons whose outcome is sure."""

from __future__ import annotations

from typed_nnx_codegen.migrate.linen.dims import Piece
from typed_nnx_codegen.migrate.linen.references import (
    ClassRef,
    FunctionRef,
    ModuleValue,
    Ref,
)
from typed_nnx_codegen.migrate.linen.values import (
    NONE,
    Array,
    Const,
    Sequence,
    ShapeOf,
    Size,
    Value,
)


def decided(operator: str, left: Value, right: Value) -> bool | None:
    """Return the outcome of a comparison that is sure: of literals, and of arrays with None."""
    if isinstance(left, Const) and isinstance(right, Const):
        if operator in ("is", "=="):
            return left == right
        if operator in ("is not", "!="):
            return left != right
    if operator in ("is", "is not") and right == NONE:
        if isinstance(left, (Sequence, ModuleValue, ShapeOf, Ref, ClassRef, FunctionRef)):
            is_field = getattr(left, "code", "").startswith("self.")
            return None if is_field else operator == "is not"
        if isinstance(left, Size) and not isinstance(left.dim.atom, Piece):
            return operator == "is not"
        if isinstance(left, Array) and not left.origin and not left.is_optional:
            return operator == "is not" if left.shape.axis(-1) is not None else None
    return None
