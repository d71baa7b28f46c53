"""TN111: ``nnx.GraphNode`` and ``nnx.Object`` are ``nnx.Pytree``."""

from __future__ import annotations

from typed_nnx_codegen.migrate.patterns.renaming import Renaming
from typed_nnx_codegen.migrate.registry import register


@register
class RenameGraphNode(Renaming):
    """The base class of objects that can be split and merged is `nnx.Pytree`.

    Modules are no longer an `nnx.Object`, so ``isinstance(x, nnx.Object)`` is false for them, and
    ``jax.tree`` treats an `nnx.Object` as one leaf. `nnx.Pytree` avoids both; rule TN110 marks its
    plain containers of arrays or Modules.
    """

    code = "TN111"
    title = "`nnx.GraphNode` and `nnx.Object` are `nnx.Pytree`"
    since = (0, 12, 0)
    still_works = True
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

- class Counter(nnx.GraphNode):
+ class Counter(nnx.Pytree):
      def __init__(self):
          self.count = nnx.Variable(0)
"""
    names = {"GraphNode": "Pytree", "Object": "Pytree"}
