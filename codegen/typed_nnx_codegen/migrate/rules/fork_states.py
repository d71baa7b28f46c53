"""TN124: ``nnx.fork`` and ``nnx.ForkStates`` are ``nnx.split_rngs``."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.registry import Rule, register

_NAMES = frozenset({"fork", "ForkStates"})
_MESSAGE = (
    "`nnx.{name}` is gone: `nnx.split_rngs(node, splits=n, only=F)` splits the keys inside an object, "
    "and `nnx.StateAxes` says which of its keys are mapped"
)


@register
class SplitInsideObjects(Rule):
    """The keys inside an object are split in place: `nnx.fork` is gone.

    What it gave, States of the keys that were split and of those that were not, has no successor:
    `nnx.split_rngs` changes the object, and `nnx.StateAxes` says which of its keys are mapped. Uses of
    both names get a marker.
    """

    code = "TN124"
    title = "`nnx.fork` and `nnx.ForkStates` are `nnx.split_rngs`"
    since = (0, 10, 0)
    example = f"""\
- from flax import nnx
+ import typed_nnx as nnx

  rngs = nnx.Rngs(0)
+ # TODO[typed-nnx] TN124: {_MESSAGE.format(name="fork")}
  keys = nnx.fork(rngs, ..., 3)
"""
    handles = _NAMES

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.Attribute:
        """Mark ``nnx.fork`` and ``nnx.ForkStates``."""
        if original.attr.value in _NAMES:
            self._mark(original)
        return updated

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.Name:
        """Mark names that are imported from NNX."""
        if self.file.scope.import_of(original.value) is not None:
            self._mark(original)
        return updated

    def _mark(self, original: cst.Attribute | cst.Name) -> None:
        name = self.file.name(original).removeprefix("nnx.")
        if name in _NAMES:
            self.file.decide(original, _MESSAGE.format(name=name))
