"""Spellings of older NNX, in code of the sweep that uses the newer ones."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.plugin.sources import Mutant, Source


def old_names(source: Source) -> Iterator[Mutant]:
    """Write ``nnx.VariableState`` for ``nnx.Variable`` in annotations and calls."""
    for node in source.walk():
        if isinstance(node, ast.Attribute) and source.of_nnx(node) == "Variable":
            edit = source.replaced(node, f"{source.nnx}.VariableState")
            yield source.mutant("nnx-deprecated", "nnx.VariableState", edit)


PLANTERS: tuple[Callable[[Source], Iterator[Mutant]], ...] = (old_names,)
