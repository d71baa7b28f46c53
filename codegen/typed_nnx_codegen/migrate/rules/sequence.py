"""TN109: ``nnx.Sequence`` is `nnx.Sequential`, whose layers are an attribute."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import parents_of
from typed_nnx_codegen.migrate.analysis.values import NONE, Instance, options_of
from typed_nnx_codegen.migrate.patterns.renaming import Renaming
from typed_nnx_codegen.migrate.registry import register

_SEQUENCE: Final = "nnx.Sequence"
_METHODS: Final = frozenset(
    {"append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse"}
)
_ITERATING: Final = frozenset(
    f"builtins.{name}"
    for name in (
        *("all", "any", "enumerate", "filter", "iter", "len", "list", "map", "max", "min", "next"),
        *("reversed", "set", "sorted", "sum", "tuple", "zip"),
    )
)
_MIXED: Final = "where this is an `nnx.Sequential`, its items are those of its `.layers`"
_BASE: Final = (
    "`nnx.Sequential.__init__` takes the layers one by one, and has them as `self.layers`"
)


@register
class ReplaceSequence(Renaming):
    """A list of Modules that can be called is an `nnx.Sequential`, which gets the layers as arguments.

    Where the file uses it as a list, that is the attribute ``layers``: paths in a State contain ``"layers"``.
    `nnx.ModuleList` is `nnx.List`. Markers are left where layers are not one argument, at classes that
    inherit from `nnx.Sequence`, and at lists that are only sometimes one.
    """

    code = "TN109"
    title = "`nnx.Sequence(layers)` is `nnx.Sequential(*layers)`"
    since = (0, 9, 0)
    example = """\
- from flax.experimental import nnx
+ import typed_nnx as nnx

  rngs = nnx.Rngs(0)
- model = nnx.Sequence([
+ model = nnx.Sequential(*[
      nnx.Linear(2, 3, rngs=rngs),
      nnx.relu,  # no parameters
  ])

  def f(x):
-     return model(x), model[0].kernel
+     return model(x), model.layers[0].kernel
"""
    names = {"Sequence": "Sequential", "ModuleList": "List"}

    def plan(self) -> None:
        """Find what is used as a list; it may be something else too where the value is False."""
        self._listed: dict[cst.CSTNode, bool] = {}
        parents = None
        for node, value in self.file.analysis.values.items():
            options = [each for each in options_of(value) if each != NONE]
            ours = [
                each for each in options if isinstance(each, Instance) and each.cls == _SEQUENCE
            ]
            if ours and isinstance(node, cst.BaseExpression):
                parents = parents or parents_of(self.file.analysis.tree)
                above = parents.get(node)
                if above is not None and self._is_listed(node, above, parents.get(above)):
                    self._listed[node] = len(ours) == len(options)

    def _is_listed(
        self, node: cst.BaseExpression, parent: cst.CSTNode, above: cst.CSTNode | None
    ) -> bool:
        """Whether an expression is used as a list."""
        match parent:
            case cst.Subscript() | cst.StarredElement() | cst.Arg(star="*"):
                return True
            case cst.Attribute():
                return parent.attr.value in _METHODS
            case cst.For() | cst.CompFor():
                return parent.iter is node
            case cst.ComparisonTarget():
                return isinstance(parent.operator, (cst.In, cst.NotIn))
            case cst.Arg():
                return isinstance(above, cst.Call) and self.file.name(above.func) in _ITERATING
            case _:
                return False

    def _layers(
        self, original: cst.BaseExpression, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        """Return the list of layers of what is used as a list; anything else as it is."""
        is_sure = self._listed.get(original)
        if is_sure is False:
            self.file.decide(original, _MIXED)
        return cst.Attribute(updated, cst.Name("layers")) if is_sure else updated

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite ``nnx.Sequence([...])``, and a call that gives one."""
        if self.file.name(original.func) == "nnx.ModuleList" and not original.args:
            return updated.with_changes(args=[cst.Arg(cst.List([]))])
        if self.file.name(original.func) != _SEQUENCE or not original.args:
            return self._layers(original, updated)
        if len(original.args) > 1 or original.args[0].star or original.args[0].keyword:
            self.file.decide(original, "its layers are not one argument; see what they are")
            return updated
        layers = updated.args[0].value
        if isinstance(layers, cst.GeneratorExp) and not layers.lpar:
            layers = layers.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        star = updated.args[0].with_changes(star="*", value=layers)
        return self._layers(original, updated.with_changes(args=[star]))

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        """Rewrite a name of the class, and a name that is used as a list."""
        return self._layers(original, super().leave_Name(original, updated))

    def leave_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression:
        """Rewrite a name of the class, and an attribute that is used as a list."""
        return self._layers(original, super().leave_Attribute(original, updated))

    def leave_Subscript(
        self, original: cst.Subscript, updated: cst.Subscript
    ) -> cst.BaseExpression:
        """Rewrite an item that is used as a list."""
        return self._layers(original, updated)

    def leave_ClassDef(self, original: cst.ClassDef, updated: cst.ClassDef) -> cst.ClassDef:
        """Mark a class that inherits from it."""
        for base in original.bases:
            if self.file.name(base.value) == _SEQUENCE:
                self.file.decide(original, _BASE)
        return updated
