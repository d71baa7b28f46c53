"""Sizes that are equal because arrays are added: `x + block(x)` keeps the size of `x`."""

from __future__ import annotations

from typed_nnx_codegen.migrate.linen.dims import Dim
from typed_nnx_codegen.migrate.linen.frames import Frame
from typed_nnx_codegen.migrate.linen.values import Array, Value


def note_residual(operator: str, left: Value, right: Value, frame: Frame) -> None:
    """Note that two arrays have one last size, where they are added."""
    if operator != "+" or not (isinstance(left, Array) and isinstance(right, Array)):
        return
    one, other = left.shape.axis(-1), right.shape.axis(-1)
    if one is None or other is None or one == other:
        return
    if one.constant is None and other.constant is None:
        frame.recorder.equal_sizes.add(frozenset((one, other)))


def are_equal(one: Dim, other: Dim, frame: Frame) -> bool:
    """Whether two sizes are equal by what was added."""
    return frozenset((one, other)) in frame.recorder.equal_sizes
