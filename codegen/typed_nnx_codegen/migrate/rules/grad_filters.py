"""TN116: ``nnx.grad(f, wrt=F)`` is ``nnx.grad(f, argnums=nnx.DiffState(0, F))``."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.file import TIGHT_EQUAL
from typed_nnx_codegen.migrate.patterns.method_calls import is_filter_of_nnx
from typed_nnx_codegen.migrate.patterns.transform_calls import (
    TransformCall,
    TransformCalls,
    keyword_of,
    renamed_keyword,
    without_keywords,
)
from typed_nnx_codegen.migrate.registry import Rule, register

_GRADIENTS: Final = ("nnx.grad", "nnx.value_and_grad")
_CUSTOM: Final = "nnx.custom_vjp"
# What the first versions took by position, after the function.
_BY_POSITION: Final = ("argnums", "has_aux", "holomorphic", "allow_int", "reduce_axes")


@register
class GradFilters(Rule):
    """`grad` and `value_and_grad` take what to differentiate in `argnums` alone.

    An integer there means the Params of a Module, ``nnx.DiffState(0, F)`` the Variables of another
    filter. The rule drops ``wrt=nnx.Param``, writes a DiffState for any other filter, and adds
    keywords to arguments that older versions took by position (the filter used to be the second).
    If `argnums` has several arguments or is computed, it leaves a marker.
    """

    code = "TN116"
    title = "`grad(wrt=F)` is `grad(argnums=nnx.DiffState(0, F))`"
    since = (0, 10, 0)
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  def gradients(loss, model):
-     grad_fn = nnx.value_and_grad(loss, has_aux=True, wrt=nnx.LoRAParam)
-     return nnx.grad(loss, wrt=nnx.Param)(model), grad_fn(model)
+     grad_fn = nnx.value_and_grad(loss, has_aux=True, argnums=nnx.DiffState(0, nnx.LoRAParam))
+     return nnx.grad(loss)(model), grad_fn(model)
"""

    def plan(self) -> None:
        """Look for transforms of gradients from now on."""
        self._calls = TransformCalls(self.file, *_GRADIENTS, _CUSTOM)

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite the arguments of a transform."""
        transform = self._calls.of(original)
        if transform is None:
            return updated
        if transform.name != _CUSTOM:
            updated = self._named(transform, updated)
        wrt = transform.keyword("wrt")
        if wrt is None:
            return updated
        if transform.name == _CUSTOM:
            self.file.decide(
                original,
                "`custom_vjp` has no `wrt=`; name what has no gradient in "
                "`nondiff_argnums=`, with nnx.DiffState(i, filter) for a part of a Module",
            )
            return updated
        if self.file.name(wrt.value) == "nnx.Param":
            return without_keywords(updated, "wrt")
        return self._with_filter(transform, updated)

    def _with_filter(self, transform: TransformCall, updated: cst.Call) -> cst.BaseExpression:
        now = keyword_of(updated, "wrt")
        assert now is not None
        given = keyword_of(updated, "argnums")
        if given is None:
            if transform.has_star:
                self._decide(transform, "the unpacked arguments may have an `argnums` too")
                return updated
            value = self._diff_state(cst.Integer("0"), now.value)
            return renamed_keyword(updated, "wrt", "argnums", value)
        if not isinstance(given.value, cst.Integer):
            self._decide(transform, "what `argnums` is, and which of it are Modules, is not sure")
            return updated
        value = self._diff_state(given.value, now.value)
        return renamed_keyword(without_keywords(updated, "wrt"), "argnums", "argnums", value)

    def _diff_state(
        self, position: cst.BaseExpression, filters: cst.BaseExpression
    ) -> cst.BaseExpression:
        return self.file.call("nnx.DiffState", position, filters)

    def _decide(self, transform: TransformCall, why: str) -> None:
        self.file.decide(
            transform.node,
            "`wrt=` is gone: write nnx.DiffState(i, filter) in `argnums=` for each Module that "
            f"is differentiated; {why}",
        )

    def _named(self, transform: TransformCall, updated: cst.Call) -> cst.Call:
        """Return a call with names for the arguments that were taken by position once."""
        if transform.has_star or (transform.is_decorator and not transform.first):
            return updated
        # The function may come later: `partial(nnx.grad, ...)` as a decorator.
        first = transform.first + (0 if transform.is_decorator else 1)
        args = list(updated.args)
        for position, name in enumerate(_BY_POSITION, first):
            if position < len(args) and args[position].keyword is None:
                # Until flax 0.8.2 the filter came second.
                is_filter = position == first and is_filter_of_nnx(
                    self.file, transform.node.args[position].value
                )
                keyword = cst.Name("wrt" if is_filter else name)
                args[position] = args[position].with_changes(keyword=keyword, equal=TIGHT_EQUAL)
        if all(one is other for one, other in zip(args, updated.args, strict=True)):
            return updated
        return updated.with_changes(args=args)
