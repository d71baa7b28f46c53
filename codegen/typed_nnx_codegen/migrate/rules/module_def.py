"""TN112: ``nnx.ModuleDef`` is ``nnx.GraphDef``."""

from __future__ import annotations

from typed_nnx_codegen.migrate.patterns.renaming import Renaming
from typed_nnx_codegen.migrate.registry import register


@register
class RenameModuleDef(Renaming):
    """The structure of a model is a GraphDef, since models may contain nodes other than Modules."""

    code = "TN112"
    title = "`nnx.ModuleDef` is `nnx.GraphDef`"
    since = (0, 9, 0)
    example = """\
- from flax.experimental import nnx
+ import typed_nnx as nnx

- def forward(static: nnx.ModuleDef[nnx.Linear], state: nnx.State, x):
-     return static.merge(state)(x)
+ def forward(static: nnx.GraphDef[nnx.Linear], state: nnx.State, x):
+     return nnx.merge(static, state)(x)
"""
    names = {"ModuleDef": "GraphDef"}
