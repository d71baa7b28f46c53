"""TN105: ``m.get_state()`` and ``m.extract(F)`` are ``nnx.state(m, F)``."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.registry import Rule, register
from typed_nnx_codegen.migrate.rules.method_calls import (
    Models,
    function_call,
    module_method,
    takes_filters,
)

_METHODS = ("extract", "filter", "get_state")


@register
class StateFunction(Rule):
    """The State of a Module is what a function gives.

    What it gives holds the Variables themselves; `nnx.clone(state)` keeps their values of today.
    `extract` of a State is `nnx.filter_state`. The methods of something unknown get a marker where
    their arguments are filters of NNX, or where the file uses it as a model.
    """

    code = "TN105"
    title = "`m.get_state()` and `m.extract(F)` are `nnx.state(m, F)`"
    since = (0, 9, 0)
    before = """\
from flax import nnx

model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
params = model.extract(nnx.Param)
"""
    after = """\
import typed_nnx as nnx

model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
params = nnx.state(model, nnx.Param)
"""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self._models = Models(file)

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite a call of one of the methods."""
        function = original.func
        if not isinstance(function, cst.Attribute) or function.attr.value not in _METHODS:
            return updated
        if module_method(self.file, original, *_METHODS) is not None:
            return function_call("nnx.state", self.file, updated)
        if function.attr.value == "extract" and self.file.is_a(function.value, "State"):
            return function_call("nnx.filter_state", self.file, updated)
        if self.file.is_unknown(function.value) and (
            takes_filters(self.file, original) or self._models.has(function.value)
        ):
            self.file.decide(
                original,
                f"if `{dotted(function.value) or 'this'}` is a Module, write `nnx.state(m, ...)`;"
                " a State has `nnx.filter_state(state, ...)`",
            )
        return updated
