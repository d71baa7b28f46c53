"""TN104: ``static.merge(state)`` is ``nnx.merge(static, state)``."""

from __future__ import annotations

import re

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted
from typed_nnx_codegen.migrate.analysis.values import Method
from typed_nnx_codegen.migrate.registry import Rule, register
from typed_nnx_codegen.migrate.rules.method_calls import function_call, loses_comment

_DEFINITION = re.compile(r"(^|[_.])(static|graph_?def|module_?def|gdef|mdef)_?\d*$")


@register
class MergeFunction(Rule):
    """A definition and States are put together by a function.

    Where nothing is known of an object with a `.merge` it gets a marker if it is called like a
    definition: `static`, `graphdef`, `moduledef`.
    """

    code = "TN104"
    title = "`static.merge(state)` is `nnx.merge(graphdef, state)`"
    since = (0, 8, 4)
    before = """\
from flax import nnx

def forward(graphdef: nnx.GraphDef, state: nnx.State, x):
    return graphdef.merge(state)(x)
"""
    after = """\
import typed_nnx as nnx

def forward(graphdef: nnx.GraphDef, state: nnx.State, x):
    return nnx.merge(graphdef, state)(x)
"""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite a call of a method `merge` of a definition."""
        function = original.func
        if not isinstance(function, cst.Attribute) or function.attr.value != "merge":
            return updated
        method = self.file.method(original)
        if method is not None and method.cls == "GraphDef":
            if method.on_class:
                return updated.with_changes(func=self.file.refer("nnx.merge"))
            if not loses_comment(original):
                return function_call("nnx.merge", self.file, updated)
        elif self.file.is_unknown(function.value) and self._may_be_definition(original, function):
            self.file.decide(
                original,
                f"if `{dotted(function.value) or 'this'}` is a definition that `split` gave, write"
                " `nnx.merge(definition, state)`",
            )
        return updated

    def leave_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression:
        """Rewrite a method that is passed on: ``jax.vmap(static.merge)``."""
        if original.attr.value != "merge" or original in self._called:
            return updated
        value = self.file.value(original)
        if not isinstance(value, Method) or self.file.is_a(original.value, "GraphDef") is not True:
            return updated
        return self.file.call("functools.partial", self.file.refer("nnx.merge"), updated.value)

    def plan(self) -> None:
        """Find the methods that are called where they are read."""
        self._called = {
            node.func for node in self.file.analysis.values if isinstance(node, cst.Call)
        }

    def _may_be_definition(self, call: cst.Call, function: cst.Attribute) -> bool:
        return bool(call.args) and bool(_DEFINITION.search(dotted(function.value)))
