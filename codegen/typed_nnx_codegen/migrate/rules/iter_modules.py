"""TN134: ``m.iter_modules()`` and ``m.iter_children()`` are functions."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import ancestry, derives
from typed_nnx_codegen.migrate.analysis.values import (
    Collection,
    Instance,
    ProjectClass,
    Value,
    join,
    options_of,
    without_none,
)
from typed_nnx_codegen.migrate.file import MethodCall
from typed_nnx_codegen.migrate.registry import Rule, register

_METHODS = ("iter_modules", "iter_children")
_CONTAINERS = "an nnx.List or nnx.Dict of Modules is a child now, its items are not; a plain container was none"


@register
class IterateWithFunctions(Rule):
    """The iterators over the Modules and children of a Module are functions.

    Both functions yield what the methods of flax 0.12 yield. Before that, a list of Modules was not
    a child, so ``iter_children`` of a class with plain containers of Modules, which TN110 rewrites,
    gets a marker. So does ``iter_modules`` on an object of unknown class.
    """

    code = "TN134"
    title = "`m.iter_modules()` and `m.iter_children()` are functions"
    since = (0, 12, 0)
    still_works = True
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  layer = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
- for path, module in layer.iter_modules():
+ for path, module in nnx.iter_modules(layer):
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
        if method.name == "iter_children" and self._has_containers(original, method):
            self.file.decide(original, _CONTAINERS)
        new = self.file.refer(f"nnx.{method.name}")
        if method.on_class:
            return updated.with_changes(func=new)
        assert isinstance(updated.func, cst.Attribute)
        return updated.with_changes(func=new, args=[cst.Arg(updated.func.value)])

    def _has_containers(self, call: cst.Call, method: MethodCall) -> bool:
        """Whether the class of a Module has plain containers of Modules."""
        node = call.args[0].value if method.on_class else method.receiver
        value = without_none(self.file.value(node))
        return isinstance(value, Instance) and any(
            _holds_modules(held)
            for base in ancestry(value.cls)[0]
            if isinstance(base, ProjectClass)
            for held in base.attributes.values()
        )

    def _may_be_nnx(self, call: cst.Call, function: cst.Attribute) -> bool:
        """Whether a call looks like one of ours: the name is rare, and it takes no arguments."""
        is_rare = function.attr.value == "iter_modules" and not call.args
        return is_rare and self.file.is_unknown(function.value)


def _holds_modules(value: Value) -> bool:
    return any(
        isinstance(option, Collection) and derives(join(option.element), "Module") is True
        for option in options_of(value)
    )
