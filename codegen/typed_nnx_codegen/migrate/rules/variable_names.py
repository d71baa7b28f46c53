"""TN135: ``nnx.register_variable_name_type_pair`` is ``nnx.register_variable_name``."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import has_star
from typed_nnx_codegen.migrate.file import TIGHT_EQUAL
from typed_nnx_codegen.migrate.patterns.renaming import Renaming
from typed_nnx_codegen.migrate.registry import register

_OLD = "register_variable_name_type_pair"


@register
class RenameRegisterVariableName(Renaming):
    """The function that registers names of Variable types has a shorter name.

    It takes ``overwrite`` by keyword only. A call with ``*args`` gets a marker if ``overwrite`` may
    be among them.
    """

    code = "TN135"
    title = "`nnx.register_variable_name_type_pair` is `nnx.register_variable_name`"
    since = (0, 11, 0)
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  class Ema(nnx.Variable):
      pass

- nnx.register_variable_name_type_pair("ema", Ema, True)
+ nnx.register_variable_name("ema", Ema, overwrite=True)
"""
    names = {_OLD: "register_variable_name"}

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Give ``overwrite`` its keyword."""
        if self.file.name(original.func) != f"nnx.{_OLD}":
            return updated
        if has_star(original):
            self.file.decide(
                original, "`overwrite` is by keyword only now; see that `*args` does not hold it"
            )
            return updated
        if len(original.args) < 3 or original.args[2].keyword is not None:
            return updated
        third = updated.args[2].with_changes(keyword=cst.Name("overwrite"), equal=TIGHT_EQUAL)
        return updated.with_changes(args=[*updated.args[:2], third, *updated.args[3:]])
