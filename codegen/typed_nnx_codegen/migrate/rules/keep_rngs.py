"""TN140: ``keep_rngs=`` of recurrent cells is the ``rngs`` of ``nnx.RNN``."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import argument, dotted, has_star
from typed_nnx_codegen.migrate.patterns.transform_calls import without_keywords
from typed_nnx_codegen.migrate.registry import Rule, register

_CELLS: Final = frozenset(
    f"nnx.{name}" for name in ("GRUCell", "LSTMCell", "OptimizedLSTMCell", "SimpleCell")
)
_MESSAGE: Final = (
    "a cell keeps no Rngs: give them where its carry is made, `cell.initialize_carry(shape, rngs)` or "
    "`nnx.RNN(cell, rngs=rngs)`"
)
_NO_KEY: Final = (
    "a carry was made with the Rngs of the cell; a cell keeps none now: give them here, "
    "`cell.initialize_carry(shape, rngs)`"
)


@register
class CarryRngs(Rule):
    """Marks a cell that keeps Rngs: `nnx.RNN` takes them instead, since it creates the carries.

    Without `keep_rngs=True` a cell draws one key less before its kernels, so initial values change.
    `cell.initialize_carry(shape)` without Rngs gets a marker, too. False was the default and is removed.
    """

    code = "TN140"
    title = "`keep_rngs=` of recurrent cells is the `rngs` of `nnx.RNN`"
    since = (0, 12, 8)
    still_works = True
    example = f"""\
- from flax import nnx
+ import typed_nnx as nnx

  rngs = nnx.Rngs(0)
+ # TODO[typed-nnx] TN140: {_MESSAGE}
  rnn = nnx.RNN(nnx.GRUCell(2, 3, keep_rngs=True, rngs=rngs))
"""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Mark cells and carries; remove False."""
        if self.file.name(original.func) not in _CELLS:
            self._carry(original)
            return updated
        keep = argument(original, None, "keep_rngs")
        if keep is not None and dotted(keep.value) != "False":
            self.file.decide(original, _MESSAGE)
            return updated
        return without_keywords(updated, "keep_rngs")

    def _carry(self, call: cst.Call) -> None:
        """Mark a carry that is made without Rngs."""
        method = self.file.method(call)
        if method is None or method.name != "initialize_carry" or method.on_class:
            return
        is_cell = self.file.is_a(method.receiver, *(cell.removeprefix("nnx.") for cell in _CELLS))
        if is_cell and not has_star(call) and argument(call, 1, "rngs") is None:
            self.file.decide(call, _NO_KEY)
