"""Modules that ask whether statistics may change: in NNX that is their mode.

Linen updates `batch_stats` where a call says that the collection is mutable, and modules ask for
that to know whether they are trained. In NNX `train()` and `eval()` set `use_running_average` of
all modules that have it.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.running.frames import Frame

STATISTICS: Final = "batch_stats"
MODE: Final = "use_running_average"
# The line of the constructor; a new model is in training.
MODE_LINE: Final = f"self.{MODE} = False  # `train()` and `eval()` set it"


def ask_mode(node: cst.Call, frame: Frame) -> bool:
    """Write the question whether statistics are mutable as one for the mode of the module.

    Args:
        node: The question.
        frame: The frame.

    Returns:
        Whether that is possible.
    """
    if not frame.records:
        return True
    recorder = frame.recorder
    cls = recorder.plan.cls
    taken = {one.name for one in cls.fields()} | set(cls.methods())
    taken |= {one.attribute for one in recorder.variables.values()}
    if recorder.instance is not None:
        taken |= set(recorder.instance.attributes)
    if frame.verbatim or frame.method is None or MODE in taken:
        return False
    recorder.plan.asks_mode = True
    negated = next((one for one in descendants(frame.method.node) if _is_negation(one, node)), None)
    if negated is None:
        recorder.replace(node, f"(not self.{MODE})")
    else:
        recorder.replace(negated, f"self.{MODE}")
    return True


def _is_negation(node: cst.CSTNode, inner: cst.CSTNode) -> bool:
    match node:
        case cst.UnaryOperation(operator=cst.Not(), expression=expression):
            return expression is inner
    return False
