"""TN107: ``m.clone()`` is ``nnx.clone(m)``."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.method_calls import Models, function_call, module_method
from typed_nnx_codegen.migrate.registry import Rule, register


@register
class CloneFunction(Rule):
    """A Module is copied by a function.

    A call of `m.apply`, which ran a copy of the Module, gets a marker, and so does `.clone()` of an
    unknown object that the file uses as a model elsewhere.
    """

    code = "TN107"
    title = "`m.clone()` is `nnx.clone(m)`"
    since = (0, 9, 0)
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
- other = model.clone()
+ other = nnx.clone(model)
"""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self._models = Models(file)

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite a call of the method."""
        function = original.func
        if module_method(self.file, original, "apply") is not None:
            self.file.decide(
                original,
                "`m.apply(x)` ran a copy and gave the result and the copy: write"
                " `copy = nnx.clone(m)` and `copy(x)`",
            )
        if not isinstance(function, cst.Attribute) or function.attr.value != "clone":
            return updated
        if module_method(self.file, original, "clone") is not None:
            return function_call("nnx.clone", self.file, updated)
        if (
            self.file.is_unknown(function.value)
            and not original.args
            and self._models.has(function.value)
        ):
            self.file.decide(
                original, f"if `{dotted(function.value)}` is a Module, write `nnx.clone(m)`"
            )
        return updated
