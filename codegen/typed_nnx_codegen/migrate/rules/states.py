"""TN105: ``m.get_state()`` and ``m.extract(F)`` are ``nnx.state(m, F)``."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.kept_states import KeptStates, is_of_first_versions
from typed_nnx_codegen.migrate.patterns.method_calls import (
    Models,
    function_call,
    module_method,
    takes_filters,
)
from typed_nnx_codegen.migrate.registry import Rule, register

_METHODS = ("extract", "filter", "get_state")
_ALL = (*_METHODS, "get_graphdef")
_FUNCTIONS = ("nnx.split", "nnx.state")


@register
class StateFunction(Rule):
    """The State of a Module is returned by a function.

    It holds the Variables themselves, no longer copies. If the State is read after the model was
    used, it is that of a clone: `nnx.state(nnx.clone(m))`. `extract` of a State becomes
    `nnx.filter_state`. Methods of an unknown object get a marker if their arguments are NNX
    filters, or if the file uses the object as a model.
    """

    code = "TN105"
    title = "`m.get_state()` and `m.extract(F)` are `nnx.state(m, F)`"
    since = (0, 9, 0)
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
- params = model.extract(nnx.Param)
+ params = nnx.state(model, nnx.Param)
"""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self._models = Models(file)
        self._kept = KeptStates(file)
        self._is_old = is_of_first_versions(file)

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite a call of one of the methods."""
        function = original.func
        if self._is_old and self.file.name(function) in _FUNCTIONS and original.args:
            return self._with_own_variables(original, original.args[0].value, updated)
        if not isinstance(function, cst.Attribute) or function.attr.value not in _ALL:
            return updated
        if module_method(self.file, original, *_METHODS) is not None:
            made = function_call("nnx.state", self.file, updated)
            return self._with_own_variables(original, function.value, made)
        if module_method(self.file, original, "get_graphdef") is not None:
            return function_call("nnx.graphdef", self.file, updated)
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

    def _with_own_variables(
        self, original: cst.Call, model: cst.BaseExpression, made: cst.Call
    ) -> cst.Call:
        """Take the State of a clone where the program keeps it while the model goes on."""
        if not self._kept.is_kept(original, model):
            return made
        first, *others = made.args
        clone = self.file.call("nnx.clone", first.value)
        return made.with_changes(args=[first.with_changes(value=clone), *others])
