"""TN113: names and arguments of the first releases that are gone: ``nnx.Empty``, ``nnx.field``, ``make_rng``."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import derives
from typed_nnx_codegen.migrate.patterns.keywords import makes
from typed_nnx_codegen.migrate.patterns.renaming import Renaming
from typed_nnx_codegen.migrate.patterns.transform_calls import keyword_of
from typed_nnx_codegen.migrate.registry import register

_EMPTY: Final = "is gone: an empty State is `nnx.State({})`, no value at all is None"
_FIELD: Final = (
    "is gone: write `nnx.data(...)` for what is part of the tree and `nnx.static(...)` for what is not; "
    "they take the keywords of `dataclasses.field`"
)
_METHODS: Final = {
    "Module.make_rng": "keep an `nnx.Rngs` as an attribute and draw from it: `self.rngs[name]()`",
    "Rngs.make_rng": "draw with `rngs[name]()`",
}
_MASK: Final = "`mask_fn` made the masked kernel; give `mask`, the array that it is multiplied with"


@register
class RemovedNames(Renaming):
    """What early releases had gets a marker that says what to write today.

    `nnx.ModuleDef` is renamed to `nnx.GraphDef`. Modules of the bridge still have `make_rng`.
    """

    code = "TN113"
    title = "`nnx.Empty`, `nnx.TreeNode`, `nnx.field`, `nnx.Ctx`, `make_rng` and `mask_fn` are gone"
    since = (0, 9, 0)
    example = f"""\
- from flax.experimental import nnx
+ import typed_nnx as nnx

- def forward(graphdef: nnx.ModuleDef[nnx.Linear], rngs: nnx.Rngs):
+ def forward(graphdef: nnx.GraphDef[nnx.Linear], rngs: nnx.Rngs):
+     # TODO[typed-nnx] TN113: {_METHODS["Rngs.make_rng"]}
      return rngs.make_rng("dropout")
"""
    names = {"ModuleDef": "GraphDef"}
    gone = {
        "Ctx": "`nnx.Ctx` is gone: a Module keeps its flags as attributes and its keys in an `nnx.Rngs`",
        "EMPTY": f"`nnx.EMPTY` {_EMPTY}",
        "Empty": f"`nnx.Empty` {_EMPTY}",
        "TreeNode": "`nnx.TreeNode` is gone: a Variable with a tree as its value is an `nnx.Variable`, an "
        "object with attributes of its own an `nnx.Pytree`",
        "field": f"`nnx.field` {_FIELD}",
        "make_rng": "draw from an `nnx.Rngs`: `rngs[name]()`",
        "static_field": f"`nnx.static_field` {_FIELD}",
        "treenode_field": f"`nnx.treenode_field` {_FIELD}",
    }

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Mark `make_rng`, and a function that masks the kernel of a convolution."""
        method = self.file.method(original)
        if method is not None:
            message = _METHODS.get(f"{method.cls}.{method.name}")
            if message and derives(method.value, "bridge.Module") is False:
                self.file.decide(original, message)
        elif keyword_of(original, "mask_fn") and makes(
            self.file, original, "Conv", "ConvTranspose"
        ):
            self.file.decide(original, _MASK)
        return updated
