"""TN123: ``rngs.fork(split=n)`` is ``rngs.split(n)``."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import argument, has_star
from typed_nnx_codegen.migrate.file import TIGHT_EQUAL, with_commas
from typed_nnx_codegen.migrate.patterns.key_counts import KeyCounts, key_counts
from typed_nnx_codegen.migrate.registry import Rule, register


@register
class SplitInsteadOfFork(Rule):
    """Splits keys with `split` and `nnx.split_rngs`; `fork` and `nnx.fork_rngs` give new keys only.

    The keys are the same. If a mapping names some of the streams, `fork` also forked the others,
    while `split` shares them with the Rngs: that is left to you, as is a number that may be a
    mapping.
    """

    code = "TN123"
    title = "`rngs.fork(split=n)` is `rngs.split(n)`"
    since = (0, 12, 0)
    still_works = True
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  rngs = nnx.Rngs(0, dropout=1)
- each = rngs.fork(split=3)
- backups = nnx.fork_rngs(rngs, split={"dropout": 3})
+ each = rngs.split(3)
+ backups = nnx.split_rngs(rngs, splits=3, only="dropout")
"""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite ``rngs.fork(split=n)`` and ``nnx.fork_rngs(node, split=n)``."""
        given = argument(original, None, "split")
        if given is None:
            return updated
        is_function = self.file.name(original.func) == "nnx.fork_rngs"
        if not is_function:
            method = self.file.method(original)
            if method is None or method.name != "fork" or method.cls not in {"Rngs", "RngStream"}:
                return updated
            if len(original.args) > 1:
                return self._unsure(original, updated, given)
        index = original.args.index(given)
        if has_star(original):
            return self._unsure(original, updated, given)
        counts = key_counts(self.file, given.value, updated.args[index].value)
        if is_function:
            return self._of_function(original, updated, index, counts)
        return self._of_method(original, updated, counts)

    def _of_method(
        self, original: cst.Call, updated: cst.Call, counts: KeyCounts
    ) -> cst.BaseExpression:
        if counts.kind == "none":
            return updated.with_changes(args=[])
        if counts.kind != "all":
            return self._unsure(original, updated, original.args[0])
        assert isinstance(updated.func, cst.Attribute)
        arg = updated.args[0].with_changes(
            value=counts.given, keyword=None, equal=cst.MaybeSentinel.DEFAULT
        )
        func = updated.func.with_changes(attr=cst.Name("split"))
        return updated.with_changes(func=func, args=[arg])

    def _of_function(
        self, original: cst.Call, updated: cst.Call, index: int, counts: KeyCounts
    ) -> cst.BaseExpression:
        args = list(updated.args)
        if counts.kind == "none":
            del args[index]
            return updated.with_changes(args=_without_last_comma(args))
        is_mapping = isinstance(counts.given, cst.Dict)
        if counts.kind not in {"all", "one"} or is_mapping:
            return self._unsure(original, updated, original.args[index])
        args[index] = args[index].with_changes(value=counts.given, keyword=cst.Name("splits"))
        if counts.only is not None:
            only = cst.Arg(counts.only, keyword=cst.Name("only"), equal=TIGHT_EQUAL)
            args[index : index + 1] = [args[index].with_changes(comma=_NO_COMMA), only]
            args[index + 1] = only.with_changes(comma=updated.args[index].comma)
        return updated.with_changes(func=self.file.refer("nnx.split_rngs"), args=with_commas(args))

    def _unsure(self, original: cst.Call, updated: cst.Call, given: cst.Arg) -> cst.BaseExpression:
        if self.file.name(original.func) == "nnx.fork_rngs":
            message = (
                "`nnx.split_rngs(node, splits=n, only=F)` splits the streams that a filter matches; "
                "write one for each number, and `nnx.fork_rngs(node)` if the others are to be forked"
            )
        elif isinstance(given.value, cst.Dict):
            message = (
                "`rngs.split` shares the streams that it does not split, `fork` forked them; write "
                "`rngs.fork().split({...})`, which draws other numbers, or name a number for `...`"
            )
        else:
            message = (
                "`rngs.split(n)` if this is a number; a mapping of some streams would share the "
                "others, which `fork` forked"
            )
        self.file.decide(original, message)
        return updated


_NO_COMMA = cst.MaybeSentinel.DEFAULT


def _without_last_comma(args: list[cst.Arg]) -> list[cst.Arg]:
    return [*args[:-1], args[-1].with_changes(comma=_NO_COMMA)] if args else args
