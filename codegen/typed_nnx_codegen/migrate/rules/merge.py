"""TN104: ``static.merge(state)`` is ``nnx.merge(static, state)``."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted
from typed_nnx_codegen.migrate.analysis.values import Method
from typed_nnx_codegen.migrate.file import TIGHT_EQUAL, File, with_commas
from typed_nnx_codegen.migrate.registry import Rule, register
from typed_nnx_codegen.migrate.rules.definition_names import is_called_definition
from typed_nnx_codegen.migrate.rules.method_calls import function_call
from typed_nnx_codegen.migrate.rules.shared_variables import SharedVariables


@register
class MergeFunction(Rule):
    """A definition and States are put together by a function.

    The function puts the very Variables of the States into the model. `copy=True` is added where
    they are in use outside of the function around: there they cannot change under a transform.
    Where nothing is known of an object with a `.merge` it gets a marker if it is called like a
    definition: `static`, `graphdef`, `moduledef`.
    """

    code = "TN104"
    title = "`static.merge(state)` is `nnx.merge(graphdef, state)`"
    since = (0, 9, 0)
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

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self._called: set[cst.BaseExpression] = set()
        self._shared = SharedVariables(file)

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite a call of a method `merge` of a definition."""
        function = original.func
        if not isinstance(function, cst.Attribute) or function.attr.value != "merge":
            return updated
        method = self.file.method(original)
        if method is not None and method.cls == "GraphDef":
            if method.on_class:
                made = updated.with_changes(func=self.file.refer("nnx.merge"))
                return self._with_own_variables(original.args[1:], made)
            made = function_call("nnx.merge", self.file, updated)
            return self._with_own_variables(original.args, made)
        if self.file.is_unknown(function.value) and self._may_be_definition(original, function):
            self.file.decide(
                original,
                f"if `{dotted(function.value) or 'this'}` is a definition that `split` gave, write"
                " `nnx.merge(definition, state)`",
            )
        return updated

    def _with_own_variables(self, states: Sequence[cst.Arg], made: cst.Call) -> cst.Call:
        """Ask for new Variables where those of a State are in use outside of the function."""
        if not any(self._shared.has(arg.value) for arg in states):
            return made
        own = cst.Arg(cst.Name("True"), keyword=cst.Name("copy"), equal=TIGHT_EQUAL)
        *others, last = made.args
        if isinstance(last.comma, cst.Comma):
            # The layout of arguments that have a line each.
            between = others[-1].comma if others else last.comma
            own = own.with_changes(comma=last.comma)
            return made.with_changes(args=[*others, last.with_changes(comma=between), own])
        return made.with_changes(args=with_commas([*made.args, own]))

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
        return bool(call.args) and is_called_definition(function.value)
