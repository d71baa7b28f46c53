"""Spellings of older NNX, in code of the sweep that uses the newer ones."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from benchmarks.plugin.sources import VARIABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.plugin.sources import Mutant, Source


def old_names(source: Source) -> Iterator[Mutant]:
    """Call ``nnx.VariableState`` for ``nnx.Variable``."""
    for call in source.calls("nnx.Variable"):
        edit = source.replaced(call.func, f"{source.nnx}.VariableState")
        yield source.mutant("nnx-deprecated", "nnx.VariableState(...)", edit)


def old_values(source: Source) -> Iterator[Mutant]:
    """Write ``self.x.value`` for ``self.x[...]``."""
    variables = {
        (each.owner, each.name)
        for each in source.attributes
        if source.made(each.value) in VARIABLES
    }
    for owner, name in sorted(variables, key=lambda one: (one[0].lineno, one[1])):
        for node in ast.walk(owner):
            if not isinstance(node, ast.Subscript | ast.Call):
                continue
            if ast.unparse(node) in (f"self.{name}[...]", f"self.{name}.get_value()"):
                edit = source.replaced(node, f"self.{name}.value")
                yield source.mutant("nnx-deprecated", "variable.value", edit)


PLANTERS: tuple[Callable[[Source], Iterator[Mutant]], ...] = (old_names, old_values)
