"""Patterns of einops: `rearrange(x, "b (h p) c -> b h (p c)", p=2)`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import (
    Array,
    Seq,
    Shape,
    Table,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.arguments import Arguments, Rule
from typed_nnx_codegen.migrate.linen.shapes.letters import ELLIPSIS, NamedAxes
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    dim_of,
    prefixed,
    shape_of,
    size_value,
    text_of,
)
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim, as_dim, product

_TOKEN: Final = re.compile(r"\s*(\.\.\.|…|[A-Za-z_]\w*|\d+|[()])")
_OPTIONS: Final = frozenset(("reduction", "tensor", "pattern"))


@dataclass(frozen=True)
class _Axis:
    """An axis in a pattern.

    Attributes:
        parts: The names of what it is made of; one where it is not in parentheses.
        grouped: Whether it is in parentheses.
    """

    parts: tuple[str, ...]
    grouped: bool = False


@dataclass
class _Pattern:
    left: list[_Axis]
    right: list[_Axis]
    named: NamedAxes = field(default_factory=NamedAxes)

    def read(self, shape: Shape) -> bool:
        """Take the sizes of the axes on the left from a shape."""
        spelled = [_label(axis, k) for k, axis in enumerate(self.left)]
        whole = NamedAxes()
        if not whole.read(spelled, shape):
            return False
        self.named.rest = whole.rest
        for label, axis in zip(spelled, self.left, strict=True):
            if label != ELLIPSIS and not self._solve(axis, whole.sizes[label]):
                return False
        return True

    def _solve(self, axis: _Axis, size: Dim | None) -> bool:
        """Find the one part of an axis whose size is not given."""
        sizes = self.named.sizes
        open_parts = [part for part in axis.parts if self.size(part) is None]
        if len(open_parts) > 1:
            return True
        if open_parts and size is not None:
            given = [self.size(part) for part in axis.parts if part != open_parts[0]]
            by = product(dim for dim in given if dim is not None)
            sizes[open_parts[0]] = size // by
        return True

    def size(self, part: str) -> Dim | None:
        """Return the size of a part of an axis."""
        return as_dim(int(part)) if part.isdigit() else self.named.sizes.get(part)

    def made(self) -> Shape:
        """Return the shape with the axes on the right."""
        at = next((k for k, axis in enumerate(self.right) if ELLIPSIS in axis.parts), None)
        if at is None:
            return Shape(tuple(map(self._joined, self.right)))
        front, back = self.right[:at], self.right[at + 1 :]
        rest = self.named.rest or Shape(())
        if self.right[at].grouped:
            rest = Shape((self._joined(self.right[at]),))
        made = Shape((*rest.dims, *map(self._joined, back)), rest.lead)
        return prefixed(map(self._joined, front), made)

    def _joined(self, axis: _Axis) -> Dim | None:
        sizes = [
            (self.named.rest or Shape(())).size_from(0) if part == ELLIPSIS else self.size(part)
            for part in axis.parts
        ]
        known = [size for size in sizes if size is not None]
        return product(known) if len(known) == len(sizes) else None


def _label(axis: _Axis, position: int) -> str:
    return ELLIPSIS if axis.parts == (ELLIPSIS,) else f"{position}"


def _parsed(text: str) -> list[_Axis] | None:
    """Return the axes of one side of a pattern; None where it is no pattern."""
    axes: list[_Axis] = []
    group: list[str] | None = None
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        position = match.end()
        token = match.group(1).replace("…", ELLIPSIS)
        if token == "(":
            if group is not None:
                return None
            group = []
        elif token == ")":
            if group is None:
                return None
            axes.append(_Axis(tuple(group), grouped=True))
            group = None
        elif group is not None:
            group.append(token)
        else:
            axes.append(_Axis((token,)))
    return None if group is not None else axes


def _sizes(call: Arguments) -> dict[str, Dim | None]:
    return {name: dim_of(value) for name, value in call.named.items() if name not in _OPTIONS}


def _pattern(call: Arguments) -> _Pattern | Unknown:
    text = call.text(1, "pattern")
    if text is None or text.count("->") != 1:
        return Unknown("a pattern that is not literal")
    left, right = (_parsed(side) for side in text.split("->"))
    if left is None or right is None:
        return Unknown(f"a pattern {text!r} that is not understood")
    ellipses = sum(ELLIPSIS in axis.parts for axis in left)
    if ellipses > 1 or any(ELLIPSIS in axis.parts and axis.grouped for axis in left):
        return Unknown(f"a pattern {text!r} that is not understood")
    pattern = _Pattern(left, right)
    pattern.named.sizes.update(_sizes(call))
    return pattern


def _rearranged(call: Arguments) -> Value:
    value = call.get(0, "tensor")
    if isinstance(value, Seq):
        shapes = [shape_of(item) for item in value.items]
        best = min(shapes, key=lambda shape: shape.lead is not None, default=Shape(()))
        shape = prefixed((as_dim(len(shapes)),), best)
    else:
        shape = shape_of(value)
    pattern = _pattern(call)
    if isinstance(pattern, Unknown):
        return pattern
    return Array(pattern.made()) if pattern.read(shape) else Unknown("an array of another rank")


def _parsed_shape(call: Arguments) -> Value:
    text = call.text(1, "pattern")
    axes = None if text is None else _parsed(text)
    if axes is None or any(len(axis.parts) != 1 for axis in axes):
        return Unknown("a pattern that is not understood")
    named = NamedAxes()
    names = [axis.parts[0] for axis in axes]
    if not named.read(_distinct(names), call.shape(0, "x")):
        return Unknown("an array of another rank")
    return Table({name: size_value(named.sizes.get(name)) for name in names if name != "_"})


def _einops_einsum(call: Arguments) -> Value:
    """Return a sum of products, whose pattern comes last: `einsum(x, w, "b i, i j -> b j")`."""
    *operands, last = call.positional or (Unknown(),)
    if "pattern" in call.named:
        operands, last = list(call.positional), call.named["pattern"]
    text = text_of(last)
    if text is None or text.count("->") != 1 or "(" in text:
        return Unknown("a pattern that is not literal")
    left, right = text.split("->")
    inputs = [part.split() for part in left.split(",")]
    if len(inputs) != len(operands):
        return Unknown("an einsum with another number of operands than its pattern has")
    named = NamedAxes()
    for axes, operand in zip(inputs, operands, strict=True):
        if not named.read(axes, shape_of(operand)):
            return Unknown(f"an operand of the einsum {text!r} has another rank")
    return Array(named.made(right.split()))


def _distinct(names: Iterable[str]) -> list[str]:
    return [f"_{k}" if name == "_" else name for k, name in enumerate(names)]


EINOPS: Final[dict[str, Rule]] = {
    "rearrange": _rearranged,
    "reduce": _rearranged,
    "repeat": _rearranged,
    "parse_shape": _parsed_shape,
    "einsum": _einops_einsum,
}
