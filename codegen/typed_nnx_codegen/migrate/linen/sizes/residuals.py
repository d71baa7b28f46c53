"""Sizes that are equal because arrays are added: `x + block(x)` keeps the size of `x`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from typed_nnx_codegen.migrate.linen.running.frames import Frame, Recorder
from typed_nnx_codegen.migrate.linen.running.values import Array, Value
from typed_nnx_codegen.migrate.linen.sizes.dims import ArgumentSize, Dim


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


def of_arguments(values: dict[str, Value], recorder: Recorder) -> dict[str, Value]:
    """Return the arguments of a call with last sizes of arguments, where residuals tell them."""
    found = dict(values)
    for name, value in values.items():
        size = value.shape.axis(-1) if isinstance(value, Array) else None
        if not isinstance(value, Array) or size is None or not value.shape.dims:
            continue
        known = _argument_size(size, recorder.equal_sizes)
        shape = replace(value.shape, dims=(*value.shape.dims[:-1], known))
        found[name] = replace(value, shape=shape)
    return found


def _argument_size(size: Dim, pairs: Iterable[frozenset[Dim]]) -> Dim:
    """Return a size of an argument that another size is equal to; that size where there is none."""
    equal = [size]
    for one in equal:
        if isinstance(one.atom, ArgumentSize):
            return one
        equal += [other for pair in pairs if one in pair for other in pair if other not in equal]
    return size
