"""TN105: ``m.get_state()`` and ``m.extract(F)`` are ``nnx.state(m, F)``."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted
from typed_nnx_codegen.migrate.registry import Rule, register
from typed_nnx_codegen.migrate.rules.method_calls import (
    function_call,
    has_filters,
    loses_comment,
    module_method,
)

_METHODS = ("extract", "filter", "get_state")


@register
class StateFunction(Rule):
    """The State of a Module is what a function gives.

    `get_state`, `extract` and `filter` of something unknown get a marker where their arguments are
    filters of NNX.
    """

    code = "TN105"
    title = "`m.get_state()` and `m.extract(F)` are `nnx.state(m, F)`"
    since = (0, 8, 4)
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

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite a call of one of the methods."""
        function = original.func
        if not isinstance(function, cst.Attribute) or function.attr.value not in _METHODS:
            return updated
        if module_method(self.file, original, *_METHODS) is not None:
            if not loses_comment(original):
                return function_call("nnx.state", self.file, updated)
        elif self.file.is_unknown(function.value) and has_filters(self.file, original):
            self.file.decide(
                original,
                f"if `{dotted(function.value) or 'this'}` is a Module, write `nnx.state(m, ...)`;"
                " a State has `nnx.filter_state(state, ...)`",
            )
        return updated
