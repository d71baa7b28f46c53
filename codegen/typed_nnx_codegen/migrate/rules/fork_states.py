"""TN124: ``nnx.fork`` and ``nnx.ForkStates`` are ``nnx.split_rngs``."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import has_star
from typed_nnx_codegen.migrate.analysis.values import External
from typed_nnx_codegen.migrate.file import TIGHT_EQUAL, with_commas
from typed_nnx_codegen.migrate.patterns.key_counts import key_counts
from typed_nnx_codegen.migrate.registry import Rule, register

_NAMES = frozenset({"fork", "ForkStates"})
_MESSAGE = (
    "`nnx.{name}` is gone: `nnx.split_rngs(node, splits=n, only=F)` splits the keys inside an object, "
    "and `nnx.StateAxes` says which of its keys are mapped"
)


@register
class SplitInsideObjects(Rule):
    """Splits the keys inside an object, in place: `nnx.fork` is gone.

    `nnx.fork(node, F, n)` as a statement of its own is rewritten. What it gave, States of the keys
    that were split and of those that were not, has no successor: `nnx.split_rngs` changes the object,
    and `nnx.StateAxes` says which of its keys are mapped. Uses of the States are left to you.
    """

    code = "TN124"
    title = "`nnx.fork` and `nnx.ForkStates` are `nnx.split_rngs`"
    since = (0, 10, 0)
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  rngs = nnx.Rngs(0)
- nnx.fork(rngs, ..., 3)
+ nnx.split_rngs(rngs, splits=3)
"""
    handles = _NAMES

    def plan(self) -> None:
        """Note the calls that are rewritten: nothing uses what they give."""
        self._rewritten: set[cst.CSTNode] = set()
        analysis = self.file.analysis
        if not any(
            isinstance(value, External) and value.name.endswith(".fork")
            for value in analysis.values.values()
        ):
            return
        for node in analysis.nodes.of(cst.Expr):
            call = node.value
            if isinstance(call, cst.Call) and self._can_rewrite(call):
                self._rewritten.add(call.func)

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.Attribute:
        """Mark ``nnx.fork`` and ``nnx.ForkStates``."""
        if original.attr.value in _NAMES:
            self._mark(original)
        return updated

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.Name:
        """Mark names that are imported from NNX."""
        if self.file.scope.import_of(original.value) is not None:
            self._mark(original)
        return updated

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite a call whose result is not used."""
        if original.func not in self._rewritten:
            return updated
        node, only, count = updated.args
        counts = key_counts(self.file, original.args[2].value, count.value)
        splits = count.with_changes(
            value=counts.given, keyword=cst.Name("splits"), equal=TIGHT_EQUAL
        )
        args = [node, splits]
        if not isinstance(only.value, cst.Ellipsis):
            named = only.with_changes(keyword=cst.Name("only"), equal=TIGHT_EQUAL)
            args = [node, splits.with_changes(comma=only.comma)]
            args.append(named.with_changes(comma=count.comma))
        return updated.with_changes(func=self.file.refer("nnx.split_rngs"), args=with_commas(args))

    def _mark(self, original: cst.Attribute | cst.Name) -> None:
        name = self.file.name(original).removeprefix("nnx.")
        if name in _NAMES and original not in self._rewritten:
            self.file.decide(original, _MESSAGE.format(name=name))

    def _can_rewrite(self, call: cst.Call) -> bool:
        if self.file.name(call.func) != "nnx.fork" or len(call.args) != 3 or has_star(call):
            return False
        if any(arg.keyword is not None for arg in call.args):
            return False
        node, _, count = call.args
        if not self.file.is_a(node.value, "Module", "Pytree"):
            return False
        counts = key_counts(self.file, count.value, count.value)
        return counts.kind == "all" and not isinstance(counts.given, cst.Dict)
