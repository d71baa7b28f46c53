"""TN102: ``m.split(...)`` is ``nnx.split(m, ...)``, which gives the definition first."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.split_order import is_applied
from typed_nnx_codegen.migrate.analysis.syntax import dotted
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.definition_first import DefinitionFirst, Result
from typed_nnx_codegen.migrate.patterns.definition_names import is_called_definition
from typed_nnx_codegen.migrate.patterns.kept_states import KeptStates
from typed_nnx_codegen.migrate.patterns.method_calls import (
    function_call,
    is_foreign,
    module_method,
    takes_filters,
)
from typed_nnx_codegen.migrate.registry import register


@register
class SplitFunction(DefinitionFirst):
    """A Module is taken apart by a function, and the definition comes before the States.

    The method gave the definition last. Code that was written for another order shows it by the
    names that the result is bound to, and by those that have `.merge` called. Where the
    result is unpacked at once the targets change places; where it is returned or passed on, the code
    around goes on to see the older order. The pair that a call of ``static.apply(state)`` gives is
    turned around too. A result that is used as a whole where nothing can be put before it gets a
    marker, and so has a `.split(nnx.Param)` of something that may be a Module.
    """

    code = "TN102"
    title = "`state, static = m.split(...)` is `graphdef, state = nnx.split(m, ...)`"
    since = (0, 9, 0)
    example = """\
- from flax.experimental import nnx
+ import typed_nnx as nnx

  model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
- state, static = model.split()
+ static, state = nnx.split(model)
"""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self._unpacked: set[cst.Call] = set()
        self._kept = KeptStates(file)

    def result_of(self, call: cst.Call) -> Result | None:
        """Return what ``m.split(...)`` or ``static.apply(state)(x)`` gives."""
        if is_applied(call):
            return self._applied(call)
        if module_method(self.file, call, "split") is None:
            return None
        filters = None if any(arg.star for arg in call.args) else [a.value for a in call.args]
        return Result(filters, self.file.analysis.split_orders.states_first(call))

    def _applied(self, call: cst.Call) -> Result | None:
        assert isinstance(call.func, cst.Call)
        method = self.file.method(call.func)
        orders = self.file.analysis.split_orders
        if method is None or method.cls != "GraphDef" or not orders.states_first(call):
            return None
        # The call stays as it is, so that only its own names can tell what was done already.
        return Result((), orders.told(call), is_pair=False)

    def new_call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Return a call of ``nnx.split``."""
        if is_applied(original):
            return updated
        made = function_call("nnx.split", self.file, updated)
        assert isinstance(original.func, cst.Attribute)
        if not self._kept.is_kept(original, original.func.value):
            return made
        first, *others = made.args
        clone = self.file.call("nnx.clone", first.value)
        return made.with_changes(args=[first.with_changes(value=clone), *others])

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite a call, or mark one that may be of a Module."""
        function = original.func
        if isinstance(function, cst.Attribute) and self._may_be_split(original, function):
            self.file.decide(
                original,
                f"if `{dotted(function.value) or 'this'}` is a Module, write"
                " `nnx.split(m, ...)`, which gives the definition first and then the States",
            )
            return updated
        return super().leave_Call(original, updated)

    def _may_be_split(self, call: cst.Call, function: cst.Attribute) -> bool:
        if function.attr.value != "split" or not self.file.is_unknown(function.value):
            return False
        if is_foreign(self.file, function.value):
            return False
        if takes_filters(self.file, call):
            return True
        return not call.args and call in self._unpacked

    def plan(self) -> None:
        """Find the calls, and those whose results have the names of a definition and a State."""
        super().plan()
        if not any(_is_split(node) for node in self.file.analysis.known.of(cst.Call)):
            return
        orders = self.file.analysis.split_orders
        for node, targets in orders.unpacked.items():
            if len(targets) == 2 and any(is_called_definition(each) for each in targets):
                self._unpacked.add(node)


def _is_split(node: cst.CSTNode) -> bool:
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value == "split"
    )
