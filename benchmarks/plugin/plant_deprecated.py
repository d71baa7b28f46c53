"""Spellings of older NNX, in code of the sweep that uses the newer ones."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from benchmarks.plugin.sources import VARIABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.plugin.sources import Mutant, Source


def old_names(source: Source) -> Iterator[Mutant]:
    """Write ``nnx.VariableState`` for ``nnx.Variable`` in annotations and calls.

    typed_nnx has no such name, so there mypy itself says that it does not exist.
    """
    for node in source.walk():
        if isinstance(node, ast.Attribute) and source.of_nnx(node) == "Variable":
            edit = source.replaced(node, f"{source.nnx}.VariableState")
            yield source.mutant("nnx-deprecated", "nnx.VariableState", edit)


def old_values(source: Source) -> Iterator[Mutant]:
    """Write ``self.x.value`` for ``self.x[...]``."""
    variables = {
        (each.owner, each.name)
        for each in source.attributes
        if source.made(each.value) in VARIABLES
    }
    for owner, name in sorted(variables, key=lambda one: (one[0].lineno, one[1])):
        for node in ast.walk(owner):
            if isinstance(node, ast.Subscript) and ast.unparse(node) == f"self.{name}[...]":
                edit = source.replaced(node, f"self.{name}.value")
                yield source.mutant("nnx-deprecated", "variable.value", edit)


PLANTERS: tuple[Callable[[Source], Iterator[Mutant]], ...] = (old_names, old_values)
