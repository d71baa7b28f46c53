"""TN121: ``v.raw_value`` is ``v.get_raw_value()``."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, is_repeatable, targets_of
from typed_nnx_codegen.migrate.patterns.variable_access import (
    getter,
    method_of,
    operand,
    operator_of,
    setter,
)
from typed_nnx_codegen.migrate.registry import Rule, register

_NAME = "raw_value"
_WRITING = (
    *(cst.Assign, cst.AugAssign, cst.AssignTarget, cst.AnnAssign, cst.For, cst.CompFor, cst.Del),
    *(cst.AsName, cst.MatchValue),
)
_LEFT = "`{code}` is not assigned any more; write v.set_raw_value(x) in a statement of its own"
_UNSURE = "if `{code}` is a Variable, read with .get_raw_value() and write with .set_raw_value(x)"


@register
class RawValueOfVariable(Rule):
    """Calls the methods that read and write the value of a Variable without hooks.

    A marker is left where it is assigned among other targets or deleted, and at `raw_value` of
    unknown objects, since few others have such an attribute.
    """

    code = "TN121"
    title = "`v.raw_value` is `v.get_raw_value()`"
    since = (0, 12, 0)
    still_works = True
    example = """\
  import jax.numpy as jnp
- from flax import nnx
+ import typed_nnx as nnx

  v = nnx.Param(jnp.ones(3))
- v.raw_value = v.raw_value * 2
+ v.set_raw_value(v.get_raw_value() * 2)
"""

    def plan(self) -> None:
        """Find the places that write: they are not reads, and only some can be rewritten."""
        self._alone: set[cst.CSTNode] = set()
        self._left: set[cst.CSTNode] = set()
        known = self.file.analysis.known
        if not any(node.attr.value == _NAME for node in known.of(cst.Attribute)):
            return
        for node in self.file.analysis.nodes.of_any(*_WRITING):
            match node:
                case cst.Assign(targets=[only]):
                    self._alone.add(only.target)
                    self._left.update(targets_of(only.target))
                case cst.AugAssign():
                    kinds = self._alone if is_repeatable(node.target) else self._left
                    kinds.add(node.target)
                case cst.AssignTarget() | cst.AnnAssign() | cst.For() | cst.CompFor() | cst.Del():
                    self._left.update(targets_of(node.target))
                case cst.AsName() | cst.MatchValue():
                    left = node.name if isinstance(node, cst.AsName) else node.value
                    self._left.update(targets_of(left))
        self._left -= self._alone

    def leave_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression:
        """Rewrite a read."""
        if original.attr.value != _NAME or original not in self.file.analysis.values:
            return updated
        if not self._is_of_variable(original):
            is_result = isinstance(original.value, cst.Call)
            if self.file.is_unknown(original.value) and not is_result:
                self.file.decide(original, _UNSURE.format(code=code_of(original.value)))
            return updated
        if original in self._left:
            self.file.decide(original, _LEFT.format(code=code_of(original)))
        return updated if original in self._alone | self._left else getter(updated, "get_raw_value")

    def leave_Assign(self, original: cst.Assign, updated: cst.Assign) -> cst.BaseSmallStatement:
        """Rewrite ``v.raw_value = x``."""
        target = updated.targets[0].target
        if len(updated.targets) == 1 and self._is_of_variable(original.targets[0].target):
            assert isinstance(target, cst.Attribute)
            return cst.Expr(setter(target.value, "set_raw_value", updated.value))
        return updated

    def leave_AugAssign(
        self, original: cst.AugAssign, updated: cst.AugAssign
    ) -> cst.BaseSmallStatement:
        """Rewrite ``v.raw_value += x``."""
        if original.target not in self._alone or not self._is_of_variable(original.target):
            return updated
        assert isinstance(updated.target, cst.Attribute)
        variable = updated.target.value
        value = cst.BinaryOperation(
            method_of(variable, "get_raw_value"),
            operator_of(updated.operator),
            operand(updated.value),
        )
        return cst.Expr(setter(variable, "set_raw_value", value))

    def _is_of_variable(self, node: cst.BaseExpression) -> bool:
        return (
            isinstance(node, cst.Attribute)
            and node.attr.value == _NAME
            and self.file.is_a(node.value, "Variable") is True
        )
