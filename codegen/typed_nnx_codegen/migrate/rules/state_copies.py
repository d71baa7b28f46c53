"""TN105: `nnx.state`, `nnx.split` and `nnx.merge` give the Variables themselves, no copies."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import has_star
from typed_nnx_codegen.migrate.analysis.values import NNX
from typed_nnx_codegen.migrate.registry import Rule, register

_FUNCTIONS: Final = frozenset({"nnx.merge", "nnx.split", "nnx.state"})
# Names that flax 0.11 had no more, and that other rules rewrite.
_GONE: Final = frozenset({"GraphNode", "VariableState", "register_variable_name_type_pair"})
_MESSAGE: Final = (
    "up to flax 0.10 `nnx.state`, `nnx.split` and `nnx.merge` copied Variables: where this file keeps a "
    "State while the model changes, write `nnx.state(nnx.clone(m))` or `nnx.merge(..., copy=True)`"
)


@register
class StateCopies(Rule):
    """A State and its model share Variables; up to flax 0.10 both had their own.

    A file is that old if it imports `flax.experimental.nnx`, has a name such as `nnx.VariableState`, or an Optimizer
    without `wrt`. The first call of such a function in it gets a marker.
    """

    code = "TN105"
    title = "`nnx.state`, `nnx.split` and `nnx.merge` do not copy Variables"
    since = (0, 11, 0)
    example = f"""\
- from flax.experimental import nnx
+ import typed_nnx as nnx

  def start(model: nnx.Module):
+     # TODO[typed-nnx] TN105: {_MESSAGE}
      return nnx.state(model)
"""

    def plan(self) -> None:
        """Find the first call, if the file is that old."""
        known = self.file.analysis.known
        calls = (node for node in known.of(cst.Call) if self.file.name(node.func) in _FUNCTIONS)
        self._first = next(calls, None)
        if self._first is not None and not self._is_old():
            self._first = None

    def _is_old(self) -> bool:
        analysis = self.file.analysis
        return any(map(self._is_older, analysis.values)) or any(
            binding.full.startswith("flax.experimental")
            for scope in (analysis.scope, *analysis.scopes.values())
            for binding in scope.imports.values()
        )

    def _is_older(self, node: cst.CSTNode) -> bool:
        match node:
            case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)) if name in _GONE:
                return self.file.name(node) == f"{NNX}.{name}"
            case cst.Call(args=[cst.Arg(keyword=None), cst.Arg(keyword=None)]):
                return self.file.name(node.func) == f"{NNX}.Optimizer" and not has_star(node)
            case _:
                return False

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Mark the first call."""
        if original is self._first:
            self.file.decide(original, _MESSAGE)
        return updated
