"""TN109: ``nnx.Sequence`` is `nnx.List`, or `nnx.Sequential` where it is called."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.patterns.sequence_uses import LIST, OLD, SEQUENTIAL, SequenceUses
from typed_nnx_codegen.migrate.registry import Rule, register

_UNSEEN = (
    "nothing here calls or indexes it: write `nnx.Sequential(*layers)` if it is called, with"
    " `.layers[i]` for its items, or `nnx.List(layers)` if it is not"
)

_EITHER = (
    "this is `nnx.Sequential` where objects are called, whose `__init__` takes the layers one by one, and"
    " `nnx.List` where they are not"
)


@register
class ReplaceSequence(Rule):
    """What is called becomes `nnx.Sequential`, with layers as arguments; a list `nnx.List`.

    The rule reads all uses of an object in the file. If a Sequential is used as a list too, its
    layers are the attribute ``layers``, and their paths in a State contain ``"layers"``.

    Markers are left where there is no use, where the class is passed on or inherited from, and at
    types where a file has both.
    """

    code = "TN109"
    title = "`nnx.Sequence` is `nnx.List`, or `nnx.Sequential` where it is called"
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
- heads = nnx.Sequence([nnx.Linear(3, n, rngs=rngs) for n in (1, 2)])
+ heads = nnx.List([nnx.Linear(3, n, rngs=rngs) for n in (1, 2)])

  def f(x):
      y = model(x)
-     return [head(y) for head in heads], model[0].kernel
+     return [head(y) for head in heads], model.layers[0].kernel
"""
    handles = frozenset({"Sequence", "ModuleList"})

    def plan(self) -> None:
        """Look at what the file does with its sequences."""
        self._uses = SequenceUses(self.file)

    # -- where they are made ------------------------------------------------------------------

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite ``nnx.Sequence([...])``; and an indexed call that gives one."""
        if original in self._uses.listed:
            return self._layers(original, updated)
        if self._uses.roles.get(original.func) != "call":
            return updated
        new = self._uses.class_of(original)
        if len(original.args) > 1 or any(arg.star or arg.keyword for arg in original.args):
            self.file.decide(original, "its layers are not one argument; see what they are")
            return updated
        if new == LIST:
            if not updated.args:
                return updated.with_changes(
                    func=self.file.refer(LIST), args=[cst.Arg(cst.List([]))]
                )
            return updated.with_changes(func=self.file.refer(LIST))
        if new == SEQUENTIAL:
            return self._sequential(updated)
        self.file.decide(original, _UNSEEN)
        return updated

    def _sequential(self, call: cst.Call) -> cst.Call:
        """Return a call of `nnx.Sequential`, which takes the layers one by one."""
        function = self.file.refer(SEQUENTIAL)
        if not call.args:
            return call.with_changes(func=function)
        layers = call.args[0].value
        if isinstance(layers, cst.GeneratorExp) and not layers.lpar:
            layers = layers.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        star = call.args[0].with_changes(star="*", value=layers)
        return call.with_changes(func=function, args=[star])

    # -- where they are used ------------------------------------------------------------------

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        """Rewrite a name of the class, and a name that is used as a list."""
        if original in self._uses.listed:
            return self._layers(original, updated)
        return self._class(original, updated)

    def leave_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression:
        """Rewrite a name of the class, and an attribute that is used as a list."""
        if original in self._uses.listed:
            return self._layers(original, updated)
        return self._class(original, updated)

    def leave_Subscript(
        self, original: cst.Subscript, updated: cst.Subscript
    ) -> cst.BaseExpression:
        """Rewrite an item that is used as a list."""
        return self._layers(original, updated) if original in self._uses.listed else updated

    def _layers(
        self, original: cst.BaseExpression, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        """Return the list of layers of a sequence."""
        if self._uses.class_of(self._uses.listed[original]) != SEQUENTIAL:
            return updated
        if original in self._uses.mixed:
            self.file.decide(
                original, "where this is an `nnx.Sequential`, its items are those of its `.layers`"
            )
            return updated
        return cst.Attribute(updated, cst.Name("layers"))

    # -- other references to the class --------------------------------------------------------

    def _class(
        self, original: cst.Name | cst.Attribute, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        """Rewrite a reference to the class that is no call of it."""
        role = self._uses.roles.get(original)
        if role is None and self.file.name(original) in OLD:
            # It is in quotes: only types are looked at there.
            role = "type"
        if role is None or role == "call":
            return updated
        is_list = self.file.name(original) == "nnx.ModuleList"
        found = {LIST} if is_list else self._uses.classes()
        if role == "type" and len(found) == 1:
            return self.file.refer(found.pop())
        self.file.decide(original, _UNSEEN if role == "other" else _EITHER)
        return updated
