"""TN134: ``m.iter_modules()`` and ``m.iter_children()`` are functions."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.registry import Rule, register

_METHODS = ("iter_modules", "iter_children")


@register
class IterateWithFunctions(Rule):
    """What goes through the Modules or the children of a Module is a function of the package.

    Both functions give what the methods of flax 0.12 give. Before, ``iter_children`` gave child
    Modules only; `nnx.iter_module_children` does that now. A call of ``iter_modules`` on
    something of an unknown class has a marker.
    """

    code = "TN134"
    title = "`m.iter_modules()` and `m.iter_children()` are functions"
    since = (0, 12, 0)
    still_works = True
    before = """\
from flax import nnx

layer = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
for path, module in layer.iter_modules():
    print(path)
"""
    after = """\
import typed_nnx as nnx

layer = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
for path, module in nnx.iter_modules(layer):
    print(path)
"""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite a call of one of the methods."""
        function = original.func
        if not isinstance(function, cst.Attribute) or function.attr.value not in _METHODS:
            return updated
        method = self.file.method(original)
        if method is None:
            if self._may_be_nnx(original, function):
                self.file.decide(
                    original, "if this is a Module, write `nnx.iter_modules(module)`; it is unknown"
                )
            return updated
        if method.cls != "Module" or len(original.args) != (1 if method.on_class else 0):
            return updated
        new = self.file.refer(f"nnx.{method.name}")
        if method.on_class:
            return updated.with_changes(func=new)
        assert isinstance(updated.func, cst.Attribute)
        return updated.with_changes(func=new, args=[cst.Arg(updated.func.value)])

    def _may_be_nnx(self, call: cst.Call, function: cst.Attribute) -> bool:
        """Whether a call looks like one of ours: the name is rare, and it takes no arguments."""
        is_rare = function.attr.value == "iter_modules" and not call.args
        return is_rare and self.file.is_unknown(function.value)
