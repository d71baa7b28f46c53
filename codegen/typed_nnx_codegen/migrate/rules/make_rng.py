"""TN125: ``make_rng(name)`` is ``rngs[name]()``."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import derives, member_of
from typed_nnx_codegen.migrate.analysis.syntax import dotted, has_star
from typed_nnx_codegen.migrate.file import MethodCall
from typed_nnx_codegen.migrate.registry import Rule, register

_RECEIVERS = frozenset({"ctx", "rngs"})
_NO_RNGS = (
    "a Module has no `make_rng`: keep the Rngs in `__init__` (`self.rngs = rngs`) and draw "
    "`self.rngs[name]()`, or take `rngs` as an argument"
)


@register
class DrawFromRngs(Rule):
    """Draws keys from the streams of Rngs: `rngs["dropout"]()`.

    `self.make_rng(name)` of a Module draws from `self.rngs`. If it has none, a marker says so:
    store the Rngs that `__init__` gets, or pass them to the method.
    """

    code = "TN125"
    title = "`make_rng(name)` is `rngs[name]()`"
    since = (0, 9, 0)
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  rngs = nnx.Rngs(0, dropout=1)
- key = rngs.make_rng("dropout")
+ key = rngs["dropout"]()
"""
    gone = {"make_rng": "draw from an `nnx.Rngs`: `rngs[name]()`"}

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite ``rngs.make_rng(name)`` and ``self.make_rng(name)``."""
        func = updated.func
        if not isinstance(original.func, cst.Attribute) or not isinstance(func, cst.Attribute):
            return updated
        if original.func.attr.value != "make_rng":
            return updated
        method = self.file.method(original)
        if method is None:
            self._mark_unknown(original)
            return updated
        if method.cls == "Rngs":
            return self._drawn(original, updated, func.value)
        if method.cls == "Module":
            return self._of_module(original, updated, method, func.value)
        if method.cls == "Ctx":
            self.file.decide(
                original, "there is no Ctx any more; take an `nnx.Rngs` and draw `rngs[name]()`"
            )
        return updated

    def _mark_unknown(self, original: cst.Call) -> None:
        assert isinstance(original.func, cst.Attribute)
        receiver = original.func.value
        if self.file.is_unknown(receiver) and dotted(receiver).rpartition(".")[2] in _RECEIVERS:
            self.file.decide(original, "is this an `nnx.Rngs`? then it is `rngs[name]()`")

    def _of_module(
        self,
        original: cst.Call,
        updated: cst.Call,
        method: MethodCall,
        receiver: cst.BaseExpression,
    ) -> cst.BaseExpression:
        if derives(method.value, "bridge.Module") is not False or method.on_class:
            return updated  # Modules of the bridge still have it
        kept = member_of(method.value, "rngs")
        if derives(kept, "Rngs"):
            return self._drawn(original, updated, cst.Attribute(receiver, cst.Name("rngs")))
        if derives(kept, "RngStream"):
            stream = cst.Attribute(receiver, cst.Name("rngs"))
            return updated.with_changes(func=stream, args=[])
        self.file.decide(original, _NO_RNGS)
        return updated

    def _drawn(
        self, original: cst.Call, updated: cst.Call, rngs: cst.BaseExpression
    ) -> cst.BaseExpression:
        """Return a call that draws a key from a stream of Rngs."""
        if not original.args:
            return updated.with_changes(func=rngs)
        name = updated.args[0]
        named = name.keyword is not None and name.keyword.value != "name"
        if len(original.args) > 1 or has_star(original) or named:
            self.file.decide(original, "`rngs[name]()` draws a key; it takes no other arguments")
            return updated
        index = cst.SubscriptElement(cst.Index(name.value))
        return updated.with_changes(func=cst.Subscript(rngs, [index]), args=[])
