"""TN140: ``keep_rngs=`` of recurrent cells is the ``rngs`` of ``nnx.RNN``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import argument, dotted, has_star
from typed_nnx_codegen.migrate.patterns.transform_calls import with_keyword, without_keywords
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
    """Passes the Rngs to `nnx.RNN` instead of the cell, since that creates the carries.

    Without `keep_rngs=True` a cell draws one key less before its kernels, so initial values change.
    A cell that is not created inside a call of `nnx.RNN` gets a marker, and so does
    `cell.initialize_carry(shape)` without Rngs.
    """

    code = "TN140"
    title = "`keep_rngs=` of recurrent cells is the `rngs` of `nnx.RNN`"
    since = (0, 12, 8)
    still_works = True
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  rngs = nnx.Rngs(0)
- rnn = nnx.RNN(nnx.GRUCell(2, 3, keep_rngs=True, rngs=rngs))
+ rnn = nnx.RNN(nnx.GRUCell(2, 3, rngs=rngs), rngs=rngs)
"""

    def plan(self) -> None:
        """Start without the cells inside calls of ``nnx.RNN``: most files have no `keep_rngs`."""
        self._found: dict[cst.CSTNode, cst.Arg] | None = None

    @property
    def _inside(self) -> dict[cst.CSTNode, cst.Arg]:
        """The cells that are made inside a call of ``nnx.RNN``, with their Rngs."""
        if self._found is None:
            self._found = dict(self._search())
        return self._found

    def _search(self) -> Iterator[tuple[cst.CSTNode, cst.Arg]]:
        for node in self.file.analysis.known.of(cst.Call):
            if self.file.name(node.func) == "nnx.RNN":
                cell = argument(node, 0, "cell")
                if cell is None or has_star(node) or not isinstance(cell.value, cst.Call):
                    continue
                rngs = argument(cell.value, None, "rngs")
                if rngs is not None and (dotted(rngs.value) or self._has_rngs(node)):
                    yield cell.value, rngs

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Rewrite cells, and the calls of ``nnx.RNN`` around them."""
        name = self.file.name(original.func)
        if name == "nnx.RNN":
            return self._rnn(original, updated)
        if name not in _CELLS:
            self._carry(original)
            return updated
        keep = argument(original, None, "keep_rngs")
        if keep is None:
            return updated
        if dotted(keep.value) != "False" and not self._moves(original):
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

    def _moves(self, cell: cst.CSTNode) -> bool:
        """Whether the Rngs of a cell go to the RNN around it."""
        if not isinstance(cell, cst.Call) or self.file.name(cell.func) not in _CELLS:
            return False
        keep = argument(cell, None, "keep_rngs")
        return keep is not None and dotted(keep.value) == "True" and cell in self._inside

    def _has_rngs(self, rnn: cst.Call) -> bool:
        return argument(rnn, None, "rngs") is not None

    def _rnn(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        cell = argument(original, 0, "cell")
        if cell is None or not self._moves(cell.value) or self._has_rngs(original):
            return updated
        return with_keyword(updated, "rngs", self._inside[cell.value].value.deep_clone())
