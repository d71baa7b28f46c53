"""TN116: ``nnx.grad(f, wrt=F)`` is ``nnx.grad(f, argnums=nnx.DiffState(0, F))``."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import number_of
from typed_nnx_codegen.migrate.file import TIGHT_EQUAL
from typed_nnx_codegen.migrate.patterns.method_calls import is_filter_of_nnx
from typed_nnx_codegen.migrate.patterns.module_arguments import is_node
from typed_nnx_codegen.migrate.patterns.transform_calls import (
    TransformCall,
    TransformCalls,
    is_repeatable,
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

    An integer there stands for the Params of a Module; ``nnx.DiffState(0, F)`` for what another
    filter takes. The rule drops ``wrt=nnx.Param``, writes a DiffState for any other filter and
    names the arguments that older versions took by position: the filter came second once. With
    several arguments it has to know which of them are Modules; where it does not, and where `argnums`
    is computed, it leaves a marker.
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
        return self._with_filter(transform, wrt, updated)

    def _with_filter(
        self, transform: TransformCall, wrt: cst.Arg, updated: cst.Call
    ) -> cst.BaseExpression:
        now = keyword_of(updated, "wrt")
        assert now is not None
        given = keyword_of(updated, "argnums")
        if given is None:
            if transform.has_star:
                self._decide(transform, "the unpacked arguments may have an `argnums` too")
                return updated
            value = self._diff_state(cst.Integer("0"), now.value)
            return renamed_keyword(updated, "wrt", "argnums", value)
        value_of_argnums = self._argnums(transform, given.value, wrt.value, now.value)
        if value_of_argnums is None:
            return updated
        return renamed_keyword(
            without_keywords(updated, "wrt"), "argnums", "argnums", value_of_argnums
        )

    def _argnums(
        self,
        transform: TransformCall,
        argnums: cst.BaseExpression,
        wrt: cst.BaseExpression,
        now: cst.BaseExpression,
    ) -> cst.BaseExpression | None:
        """Return the arguments to differentiate, or None where a person has to say it."""
        if isinstance(argnums, cst.Integer):
            return self._diff_state(argnums, now)
        if not isinstance(argnums, (cst.Tuple, cst.List)) or not all(
            isinstance(number_of(element.value), int) for element in argnums.elements
        ):
            self._decide(transform, "what `argnums` is cannot be seen here")
            return None
        elements: list[cst.BaseElement] = []
        written = 0
        for element in argnums.elements:
            is_module = self._is_module(transform, number_of(element.value))
            if is_module is None:
                self._decide(transform, "it cannot be seen which of the arguments are Modules")
                return None
            written += is_module
            diff = self._diff_state(element.value, now) if is_module else element.value
            elements.append(element.with_changes(value=diff))
        if written > 1 and not is_repeatable(wrt):
            self._decide(transform, "the filter is needed more than once; give it a name first")
            return None
        return argnums.with_changes(elements=elements)

    def _is_module(self, transform: TransformCall, position: float | None) -> bool | None:
        names = transform.parameters
        if names is None or transform.function is None or not isinstance(position, int):
            return None
        if not 0 <= position < len(names):
            return None
        return is_node(self.file, transform.function, names[position])

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
