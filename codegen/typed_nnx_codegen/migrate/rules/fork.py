"""TN122: ``rngs.fork(n)`` is ``rngs.split(n)``."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, dotted, has_star
from typed_nnx_codegen.migrate.patterns.key_counts import key_counts
from typed_nnx_codegen.migrate.registry import Rule, register

_UNSURE = (
    "`rngs.split(n)` if all streams are split; `rngs.fork().split({name: n})` if only some "
    "are, since `split` alone shares the other streams"
)
_ATOMS = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)


@register
class SplitRngs(Rule):
    """Splits Rngs with `split`: `fork` no longer takes a number.

    `fork(n)` returned a dict of keys, which the mapped function passed to `nnx.Rngs(keys)`.
    `split(n)` returns Rngs, so that call is removed, also where the keys are an argument. A marker
    is left where the number may be a mapping of some streams (`fork` forked the others, `split`
    would share them), or where a single stream is forked.
    """

    code = "TN122"
    title = "`rngs.fork(n)` is `rngs.split(n)`"
    since = (0, 10, 0)
    example = """\
  import jax
- from flax import nnx
+ import typed_nnx as nnx

  def create(keys):
-     return nnx.state(nnx.Linear(2, 3, rngs=nnx.Rngs(keys)))
+     return nnx.state(nnx.Linear(2, 3, rngs=keys))

- states = jax.vmap(create)(nnx.Rngs(0).fork(5))
+ states = jax.vmap(create)(nnx.Rngs(0).split(5))
"""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite ``rngs.fork(n)`` and ``nnx.Rngs(keys)``."""
        if self.file.name(original.func) == "nnx.Rngs":
            return self._unwrapped(original, updated)
        if not isinstance(original.func, cst.Attribute) or original.func.attr.value != "fork":
            return updated
        if not original.args or any(
            arg.keyword is not None and arg.keyword.value == "split" for arg in original.args
        ):
            return updated
        method = self.file.method(original)
        if method is None:
            if self._may_be_rngs(original.func.value):
                self.file.decide(
                    original,
                    "is this an `nnx.Rngs`? then `fork(n)` is `split(n)`, which gives Rngs, no keys",
                )
            return updated
        if method.cls == "Rngs":
            return self._split(original, updated)
        if method.cls == "RngStream":
            self.file.decide(
                original,
                "`fork(n)` of a stream gave keys; `stream.split(n)` gives a stream of n keys, and "
                "`jax.random.split(stream(), n)` the keys",
            )
        return updated

    def _may_be_rngs(self, receiver: cst.BaseExpression) -> bool:
        name = dotted(receiver).rpartition(".")[2]
        return self.file.is_unknown(receiver) and name.endswith("rngs")

    def _split(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        first = original.args[0]
        if has_star(original) or len(original.args) > 1 or first.keyword is not None:
            kind = "unsure"
        else:
            kind = key_counts(self.file, first.value, updated.args[0].value).kind
        if kind == "none":
            return updated.with_changes(args=[])
        if kind != "all" or isinstance(first.value, cst.Dict):
            self.file.decide(original, _UNSURE)
            return updated
        assert isinstance(updated.func, cst.Attribute)
        return updated.with_changes(func=updated.func.with_changes(attr=cst.Name("split")))

    def _unwrapped(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return what ``nnx.Rngs`` is called with, where that is Rngs already."""
        if len(original.args) != 1 or original.args[0].keyword or original.args[0].star == "*":
            return updated
        arg = updated.args[0]
        if not self.file.is_a(original.args[0].value, "Rngs"):
            return updated
        if isinstance(arg.value, _ATOMS) and "#" not in code_of(updated):
            return arg.value.with_changes(
                lpar=[*updated.lpar, *arg.value.lpar], rpar=[*arg.value.rpar, *updated.rpar]
            )
        return arg.value.with_changes(
            lpar=[cst.LeftParen(updated.whitespace_before_args), *arg.value.lpar],
            rpar=[*arg.value.rpar, cst.RightParen(arg.whitespace_after_arg)],
        )
