"""TN138: ``Conv(mask_fn=)`` is ``Conv(mask=)``."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import is_name
from typed_nnx_codegen.migrate.patterns.keywords import makes
from typed_nnx_codegen.migrate.patterns.transform_calls import keyword_of, without_keywords
from typed_nnx_codegen.migrate.registry import Rule, register

_MESSAGE: Final = (
    "`mask_fn` made the masked kernel; `mask` is the array that the kernel is multiplied with: "
    "give that array"
)


@register
class MaskOfConv(Rule):
    """Marks a function that masks the kernel of `nnx.Conv`, which now takes the mask itself.

    ``mask_fn=lambda kernel: kernel * mask`` becomes ``mask=mask``. None was the default.
    """

    code = "TN138"
    title = "`Conv(mask_fn=)` is `Conv(mask=)`"
    since = (0, 9, 0)
    example = f"""\
- from flax import nnx
+ import typed_nnx as nnx

+ # TODO[typed-nnx] TN138: {_MESSAGE}
  conv = nnx.Conv(1, 2, (3,), mask_fn=lambda kernel: kernel * 2, rngs=nnx.Rngs(0))
"""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Mark a function, and take None away."""
        given = keyword_of(original, "mask_fn")
        if given is None or not makes(self.file, original, "Conv", "ConvTranspose"):
            return updated
        if is_name(given.value, "None"):
            return without_keywords(updated, "mask_fn")
        self.file.decide(original, _MESSAGE)
        return updated
