"""TN103: ``nnx.VariableState`` is ``nnx.Variable``."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import argument, has_star
from typed_nnx_codegen.migrate.patterns.renaming import Renaming
from typed_nnx_codegen.migrate.registry import register


@register
class RenameVariableState(Renaming):
    """Leaves of a State are the Variables themselves, without a class of their own.

    `nnx.VariableState(nnx.Param, value)` becomes `nnx.Param(value)`. A call with unclear arguments
    gets a marker.
    """

    code = "TN103"
    title = "`nnx.VariableState` is `nnx.Variable`"
    since = (0, 11, 0)
    still_works = True
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  def is_leaf(x):
-     return isinstance(x, nnx.VariableState)
+     return isinstance(x, nnx.Variable)
"""
    names = {"VariableState": "Variable"}

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Rewrite ``VariableState(type, value)`` as ``type(value)``."""
        if self.file.name(original.func) != "nnx.VariableState":
            return updated
        if has_star(original):
            self.file.decide(
                original, "`VariableState(type, value)` is `type(value)`; what is passed here?"
            )
            return updated
        kind, value = argument(updated, 0, "type"), argument(updated, 1, "value")
        if kind is None or value is None:
            return updated
        rest = [arg for arg in updated.args if arg is not kind and arg is not value]
        value = value.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
        args = [value, *rest] if rest else [value.with_changes(comma=cst.MaybeSentinel.DEFAULT)]
        return updated.with_changes(func=kind.value, args=args)
