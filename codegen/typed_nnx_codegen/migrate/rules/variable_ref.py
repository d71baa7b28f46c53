"""TN127: ``Variable(use_ref=)`` and ``Variable(mutable=)`` are ``Variable(ref=)``."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.values import Instance, without_none
from typed_nnx_codegen.migrate.patterns.keywords import keywords_of, makes, renamed_keywords
from typed_nnx_codegen.migrate.registry import Rule, register

_ATTRIBUTES: Final = frozenset({"has_ref", "mutable"})
_NAMES: Final = {"use_ref": "ref", "mutable": "ref"}


@register
class RefOfVariable(Rule):
    """Says with `ref=` that a Variable holds an array reference.

    The older keywords are now metadata without effect: the Variable holds a plain array. `v.ref`
    says whether it holds a reference; it was `v.has_ref`, and `v.mutable` before that.
    """

    code = "TN127"
    title = "`Variable(use_ref=)` and `Variable(mutable=)` are `Variable(ref=)`"
    since = (0, 12, 0)
    still_works = True
    example = """\
  import jax.numpy as jnp
- from flax import nnx
+ import typed_nnx as nnx

- v = nnx.Variable(jnp.zeros(3), use_ref=True)
+ v = nnx.Variable(jnp.zeros(3), ref=True)
"""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Rename the keywords of calls that surely make a Variable."""
        if not makes(self.file, original, "Variable") or "ref" in keywords_of(original):
            return updated
        if len(keywords_of(original) & set(_NAMES)) != 1:
            return updated
        return renamed_keywords(updated, _NAMES)

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.Attribute:
        """Rename ``v.has_ref`` and ``v.mutable``."""
        if original.attr.value not in _ATTRIBUTES or not self._is_of_nnx(original.value):
            return updated
        return updated.with_changes(attr=updated.attr.with_changes(value="ref"))

    def _is_of_nnx(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is a Variable of a class of NNX: others may have such attributes."""
        value = without_none(self.file.value(node))
        return (
            isinstance(value, Instance)
            and isinstance(value.cls, str)
            and self.file.is_a(node, "Variable") is True
        )
