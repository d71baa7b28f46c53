"""Axes named by letters or words: shapes are read by the names, and made of them.

What `einsum` and `einops` patterns have in common: each axis of a shape has a name, and an
ellipsis stands for any number of axes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import Shape
from typed_nnx_codegen.migrate.linen.shapes.axes import split_front
from typed_nnx_codegen.migrate.linen.shapes.broadcasting import broadcast, combined_dim
from typed_nnx_codegen.migrate.linen.shapes.operands import prefixed
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim

ELLIPSIS: Final = "..."


@dataclass
class NamedAxes:
    """The sizes of named axes.

    Attributes:
        sizes: The sizes by name; None for one that is not known.
        rest: What the ellipsis stands for; None where there is none.
    """

    sizes: dict[str, Dim | None] = field(default_factory=dict)
    rest: Shape | None = None

    def read(self, axes: list[str], shape: Shape) -> bool:
        """Take the sizes of the axes of a shape; False where it does not fit.

        Args:
            axes: The names of its axes, with an ellipsis where there is one.
            shape: The shape.
        """
        if ELLIPSIS not in axes:
            known = shape.with_rank(len(axes))
            if known is None:
                return False
            self._take(axes, known.dims)
            return True
        at = axes.index(ELLIPSIS)
        after = len(axes) - at - 1
        shape = shape.expanded(after)
        if len(shape.dims) < after or (shape.lead is None and len(shape.dims) < len(axes) - 1):
            return False
        split = len(shape.dims) - after
        front, rest = split_front(Shape(shape.dims[:split], shape.lead), at)
        self._take(axes[:at], front)
        self._take(axes[at + 1 :], shape.dims[split:])
        self.rest = rest if self.rest is None else broadcast((self.rest, rest))
        return True

    def _take(self, axes: list[str], dims: tuple[Dim | None, ...]) -> None:
        for axis, dim in zip(axes, dims, strict=True):
            had = self.sizes.get(axis)
            self.sizes[axis] = dim if had is None else combined_dim(had, dim)

    def made(self, axes: list[str]) -> Shape:
        """Return the shape of an array with these axes."""
        at = axes.index(ELLIPSIS) if ELLIPSIS in axes else len(axes)
        front = tuple(self.sizes.get(axis) for axis in axes[:at])
        back = tuple(self.sizes.get(axis) for axis in axes[at + 1 :])
        rest = Shape(()) if self.rest is None or at == len(axes) else self.rest
        return prefixed(front, Shape((*rest.dims, *back), rest.lead))
