"""What each object of a model holds: its own Variables, and how much is in and below it."""

from __future__ import annotations

import dataclasses
from typing import Any

from typed_nnx._core.display_counts import Size, counted_as, size_of
from typed_nnx._core.nodes import GraphNode
from typed_nnx._core.paths import Path
from typed_nnx._core.variable import Variable
from typed_nnx._core.walk import walk


@dataclasses.dataclass
class Holding:
    """What one object holds.

    Each Variable counts where it is first met, so that all objects together hold it once.

    Attributes:
        path: The path of the object.
        sizes: By type of Variable, how much is in the object and below it.
        variables: By type of Variable, the object's own Variables by name.
    """

    path: Path
    sizes: dict[type, Size] = dataclasses.field(default_factory=dict)
    variables: dict[type, dict[str, Variable[Any]]] = dataclasses.field(default_factory=dict)

    @property
    def total(self) -> Size:
        """How much there is of all types."""
        total = Size()
        for size in self.sizes.values():
            total.add(size)
        return total


def holdings_of(root: Any) -> dict[Path, Holding]:
    """Return what each object of a graph holds, by its first path."""
    found = list(walk(root, (), set()))
    holdings = {path: Holding(path) for path, value in found if isinstance(value, GraphNode)}
    for path, value in found:
        if isinstance(value, Variable):
            _count(value, path, holdings)
    return holdings


def _count(variable: Variable[Any], path: Path, holdings: dict[Path, Holding]) -> None:
    kind = counted_as(type(variable))
    size = size_of(variable.get_raw_value())
    if not size.elements and not _has_arrays(variable):
        return
    around = [path[:end] for end in range(len(path)) if path[:end] in holdings]
    for outer in around:
        holdings[outer].sizes.setdefault(kind, Size()).add(size)
    name = "/".join(map(str, path[len(around[-1]) :]))
    holdings[around[-1]].variables.setdefault(kind, {})[name] = variable


def _has_arrays(variable: Variable[Any]) -> bool:
    return hasattr(variable.get_raw_value(), "dtype")
