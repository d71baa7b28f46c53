"""TN138: ``Conv(mask_fn=)`` is ``Conv(mask=)``."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants, read_names
from typed_nnx_codegen.migrate.patterns.keywords import keywords_of, makes
from typed_nnx_codegen.migrate.registry import Rule, register

_UNSURE: Final = (
    "`mask_fn` made the masked kernel; `mask` is the array that the kernel is multiplied with: "
    "give that array"
)


@register
class MaskOfConv(Rule):
    """Gives `nnx.Conv` the mask itself, instead of a function that masks the kernel.

    That is sure for ``mask_fn=lambda kernel: kernel * mask``; anything else gets a marker.
    """

    code = "TN138"
    title = "`Conv(mask_fn=)` is `Conv(mask=)`"
    since = (0, 9, 0)
    example = """\
  import jax.numpy as jnp
- from flax import nnx
+ import typed_nnx as nnx

  mask = jnp.ones((3, 1, 2))
- conv = nnx.Conv(1, 2, (3,), mask_fn=lambda kernel: kernel * mask, rngs=nnx.Rngs(0))
+ conv = nnx.Conv(1, 2, (3,), mask=mask, rngs=nnx.Rngs(0))
"""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Rewrite the keyword."""
        if "mask_fn" not in keywords_of(original):
            return updated
        if not makes(self.file, original, "Conv", "ConvTranspose"):
            return updated
        if "mask" in keywords_of(original):
            self.file.decide(original, _UNSURE)
            return updated
        args: list[cst.Arg] = []
        for arg in updated.args:
            if arg.keyword is not None and arg.keyword.value == "mask_fn":
                mask = self._mask(arg.value)
                if mask is None:
                    self.file.decide(original, _UNSURE)
                    return updated
                arg = arg.with_changes(keyword=arg.keyword.with_changes(value="mask"), value=mask)
            args.append(arg)
        return updated.with_changes(args=args)

    def _mask(self, function: cst.BaseExpression) -> cst.BaseExpression | None:
        """Return what a function multiplies its argument with; None where that is not sure."""
        if isinstance(function, cst.Name) and function.value == "None":
            return function
        match function:
            case cst.Lambda(
                params=cst.Parameters(params=[kernel]),
                body=cst.BinaryOperation(operator=cst.Multiply()) as product,
            ):
                name = kernel.name.value
                for one, other in (product.left, product.right), (product.right, product.left):
                    if (
                        isinstance(one, cst.Name)
                        and one.value == name
                        and self._is_fixed(other, name)
                    ):
                        return other
        return None

    @staticmethod
    def _is_fixed(node: cst.BaseExpression, kernel: str) -> bool:
        """Whether an expression is the same whenever it is evaluated: names and literals."""
        if kernel in set(read_names(node)):
            return False
        fixed = (cst.Name, cst.Integer, cst.Float, cst.BinaryOperation, cst.BaseBinaryOp)
        return all(isinstance(below, fixed) for below in descendants(node))
