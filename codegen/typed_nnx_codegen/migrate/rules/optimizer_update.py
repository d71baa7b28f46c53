"""TN119: ``optimizer.update(grads)`` is ``optimizer.update(model, grads)``."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import derives
from typed_nnx_codegen.migrate.analysis.syntax import has_star
from typed_nnx_codegen.migrate.analysis.values import External, Instance
from typed_nnx_codegen.migrate.file import File, with_commas
from typed_nnx_codegen.migrate.patterns.optimizer_uses import (
    OptimizerUses,
    gradients_of,
    is_update,
)
from typed_nnx_codegen.migrate.patterns.transform_calls import keyword_of
from typed_nnx_codegen.migrate.registry import Rule, register

_SIGNS: Final = frozenset({"nnx.Optimizer", "nnx.grad", "nnx.value_and_grad"})
_UPDATE: Final = (
    "an Optimizer has no model any more: write `update(model, grads)` with the model that it was "
    "made of, or make it an nnx.ModelAndOptimizer"
)
_MODEL: Final = (
    "an Optimizer has no `model` any more: use the model that it was made of, or make it an "
    "nnx.ModelAndOptimizer"
)
_MAYBE: Final = (
    "if this is an nnx.Optimizer, it takes the model first: `update({model}, grads)`; it cannot be "
    "seen here what it is"
)
_STATE: Final = (
    "the state of an Optimizer had that of its model in it; take the state of both, or make it an "
    "nnx.ModelAndOptimizer"
)


@register
class OptimizerUpdate(Rule):
    """An Optimizer no longer holds its model: `update` takes it, and `.model` is gone.

    If the model has a name next to the Optimizer, the rule writes that name: the one that the
    Optimizer was created with in the same scope, ``self.model`` next to ``self.optimizer``, or the
    differentiated argument. A use without such a name (a train step that takes only the Optimizer, a
    checkpoint of all its state) gets a marker: ``nnx.ModelAndOptimizer`` is what an Optimizer used to be.
    """

    code = "TN119"
    title = "`opt.update(grads)` is `opt.update(model, grads)`, and `opt.model` is the model"
    since = (0, 11, 0)
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  @nnx.jit
  def train_step(model: nnx.Module, optimizer: nnx.Optimizer, x):
      def loss_fn(model):
          return model(x).mean()
      loss, grads = nnx.value_and_grad(loss_fn)(model)
-     optimizer.update(grads)
+     optimizer.update(model, grads)
      return loss
"""

    def plan(self) -> None:
        """Find what the file does with its Optimizers."""
        self._uses = OptimizerUses(self.file) if _may_have_optimizers(self.file) else None

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite an update; mark a call that takes the state of an Optimizer."""
        if self._uses is None:
            return updated
        model = self._uses.uses.get(original)
        if model is not None:
            return self._update(original, updated, model)
        if original in self._uses.states:
            self.file.decide(original, _STATE)
        if is_update(self.file, original):
            return _by_position(updated)
        self._maybe(original)
        return updated

    def leave_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression:
        """Rewrite ``optimizer.model``."""
        model = self._uses.uses.get(original) if self._uses is not None else None
        if model:
            return cst.parse_expression(model).with_changes(lpar=updated.lpar, rpar=updated.rpar)
        if model is not None:
            self.file.decide(original, _MODEL)
        return updated

    def _update(self, original: cst.Call, updated: cst.Call, model: str) -> cst.Call:
        if not model:
            self.file.decide(original, _UPDATE)
            return updated
        plain = _without_name(updated)
        return plain.with_changes(
            args=with_commas([cst.Arg(cst.parse_expression(model)), *plain.args])
        )

    def _maybe(self, call: cst.Call) -> None:
        """Leave an update of something unknown with gradients of a Module to a person."""
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "update":
            return
        if len(call.args) != 1 or has_star(call) or not self.file.is_unknown(call.func.value):
            return
        grads = gradients_of(call)
        if grads is None or self._uses is None:
            return
        taken = self._uses.gradient_of(grads, self.file.scope)
        if taken:
            self.file.decide(call, _MAYBE.format(model=taken))


def _may_have_optimizers(file: File) -> bool:
    """Whether a file has Optimizers, or gradients that one may be given."""
    return any(
        value.public in _SIGNS
        if isinstance(value, External)
        else isinstance(value, Instance) and derives(value, "Optimizer") is True
        for value in file.analysis.values.values()
    )


def _without_name(call: cst.Call) -> cst.Call:
    """Return an update with its gradients by position: not every runtime takes the keyword."""
    grads = keyword_of(call, "grads")
    if grads is None:
        return call
    rest = [arg for arg in call.args if arg is not grads]
    plain = grads.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
    if call.args[0] is not grads:
        plain = plain.with_changes(comma=call.args[0].comma)
        rest[-1] = rest[-1].with_changes(comma=grads.comma)
    return call.with_changes(args=with_commas([plain, *rest]))


def _by_position(call: cst.Call) -> cst.Call:
    """Return ``update(model=m, grads=g)`` with both by position, in the order that they have."""
    names = [arg.keyword.value if arg.keyword is not None else "" for arg in call.args[:2]]
    if names not in (["", "grads"], ["model", "grads"]):
        return call
    args = [
        arg.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT) for arg in call.args[:2]
    ]
    return call.with_changes(args=[*args, *call.args[2:]])
