"""Sums of products in Einstein's notation."""

from __future__ import annotations

from collections import Counter
from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import Array, Unknown, Value
from typed_nnx_codegen.migrate.linen.shapes.arguments import Arguments, Rule
from typed_nnx_codegen.migrate.linen.shapes.letters import ELLIPSIS, NamedAxes
from typed_nnx_codegen.migrate.linen.shapes.operands import shape_of


def _einsum(call: Arguments) -> Value:
    pattern = call.text(0, "subscripts")
    if pattern is None:
        return Unknown("an einsum whose pattern is not literal")
    left, arrow, right = pattern.replace(" ", "").partition("->")
    inputs = [_axes(part) for part in left.split(",")]
    operands = call.positional[1:]
    if len(inputs) != len(operands):
        return Unknown("an einsum with another number of operands than its pattern has")
    named = NamedAxes()
    for axes, operand in zip(inputs, operands, strict=True):
        # An operand that is not known has the axes all the same.
        if not named.read(axes, shape_of(operand)):
            return Unknown(f"an operand of the einsum {pattern!r} has another rank")
    return Array(named.made(_axes(right) if arrow else _implied(inputs)))


def _axes(text: str) -> list[str]:
    before, ellipsis, after = text.partition(ELLIPSIS)
    return [*before, *([ELLIPSIS] if ellipsis else []), *after]


def _implied(inputs: list[list[str]]) -> list[str]:
    """Return the axes of the result where the pattern has no arrow."""
    counts = Counter(axis for axes in inputs for axis in axes)
    once = sorted(axis for axis, count in counts.items() if count == 1 and axis != ELLIPSIS)
    return [ELLIPSIS, *once] if ELLIPSIS in counts else once


EINSUMS: Final[dict[str, Rule]] = {"einsum": _einsum}
