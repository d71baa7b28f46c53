"""TN118: ``nnx.Optimizer(model, tx)`` is ``nnx.Optimizer(model, tx, wrt=nnx.Param)``."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import class_derives
from typed_nnx_codegen.migrate.analysis.syntax import has_star
from typed_nnx_codegen.migrate.analysis.values import ProjectClass
from typed_nnx_codegen.migrate.file import TIGHT_EQUAL
from typed_nnx_codegen.migrate.patterns.optimizer_uses import OPTIMIZER
from typed_nnx_codegen.migrate.patterns.transform_calls import PARTIAL, keyword_of, with_keyword
from typed_nnx_codegen.migrate.registry import Rule, register

_MESSAGE: Final = (
    "an Optimizer has to be told what it updates: see whether the unpacked arguments have `wrt`, "
    "and add wrt=nnx.Param where they do not"
)


@register
class OptimizerWrt(Rule):
    """An Optimizer must be told what it updates; the default was the Params.

    The rule adds ``wrt=nnx.Param`` where an Optimizer, or a subclass in the project, is created
    without it, and adds the keyword to a `wrt` that was given by position. Unpacked arguments get a
    marker.
    """

    code = "TN118"
    title = "`nnx.Optimizer(m, tx)` is `nnx.Optimizer(m, tx, wrt=nnx.Param)`"
    since = (0, 11, 0)
    example = """\
  import optax
- from flax import nnx
+ import typed_nnx as nnx

  model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
- optimizer = nnx.Optimizer(model, optax.adam(1e-3))
+ optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
"""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Say what an Optimizer updates."""
        first = self._first(original)
        if first is None or keyword_of(original, "wrt") is not None:
            return updated
        if has_star(original):
            self.file.decide(original, _MESSAGE)
            return updated
        by_position = [arg for arg in original.args[first:] if arg.keyword is None]
        if len(by_position) > 2:
            args = list(updated.args)
            named = args[first + 2].with_changes(keyword=cst.Name("wrt"), equal=TIGHT_EQUAL)
            args[first + 2] = named
            return updated.with_changes(args=args)
        return with_keyword(updated, "wrt", self.file.refer("nnx.Param"))

    def _first(self, call: cst.Call) -> int | None:
        """Return the position of the model where a call makes an Optimizer; else None."""
        if self._makes_optimizer(call.func):
            return 0
        if self.file.name(call.func) == PARTIAL and call.args:
            return 1 if self._makes_optimizer(call.args[0].value) else None
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "__init__":
            return None
        above = call.func.value
        if self.file.name(above) == OPTIMIZER:
            return 1
        # `super().__init__(model, tx)` in a class whose bases have no constructor of their own.
        if isinstance(above, cst.Call) and self.file.name(above.func) == "builtins.super":
            owner = self._owner()
            if owner is None or class_derives(owner, "Optimizer") is not True:
                return None
            return 0 if all(self._is_next(base) for base in owner.bases) else None
        return None

    def _owner(self) -> ProjectClass | None:
        scope = self.file.scope
        function = scope.function
        return function.owner if function is not None else None

    def _is_next(self, base: object) -> bool:
        return getattr(base, "public", "") == OPTIMIZER or (
            isinstance(base, ProjectClass) and _has_its_constructor(base)
        )

    def _makes_optimizer(self, function: cst.BaseExpression) -> bool:
        if self.file.name(function) == OPTIMIZER:
            return True
        value = self.file.value(function)
        return isinstance(value, ProjectClass) and _has_its_constructor(value)


def _has_its_constructor(cls: ProjectClass) -> bool:
    """Whether a class of the project is made with the arguments of an Optimizer."""
    if "__init__" in cls.methods or class_derives(cls, "Optimizer") is not True:
        return False
    if class_derives(cls, "ModelAndOptimizer"):
        return False
    return all(
        getattr(base, "public", "") == OPTIMIZER
        or (isinstance(base, ProjectClass) and _has_its_constructor(base))
        for base in cls.bases
    )
