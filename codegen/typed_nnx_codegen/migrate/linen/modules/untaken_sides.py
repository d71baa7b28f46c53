"""Sides of branches that no call of a method takes: what they build has no place in the new module."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.linen.layers import Helper
from typed_nnx_codegen.migrate.linen.running.frames import Recorder

NOT_BUILT: Final = Helper(
    "not_built",
    '''\
def not_built(what):
    """Raise an error: no call of the module builds this submodule."""
    raise NotImplementedError(f"{what} is not built by the constructor")
''',
)


def untaken(method: cst.FunctionDef, recorder: Recorder) -> set[cst.CSTNode]:
    """Return the nodes of a method on the sides of branches that no call takes."""
    found: set[cst.CSTNode] = set()
    for node in descendants(method):
        if isinstance(node, cst.If):
            taken = recorder.sides.get(node)
            if taken == {True} and node.orelse is not None:
                found.update(descendants(node.orelse))
            elif taken == {False}:
                found.update(descendants(node.body))
        elif isinstance(node, cst.IndentedBlock):
            leaves = False
            for one in node.body:
                found.update(descendants(one) if leaves else ())
                leaves = leaves or (isinstance(one, cst.If) and _leaves(one, recorder))
    return found


def _leaves(node: cst.If | cst.Else, recorder: Recorder) -> bool:
    """Whether the sides of a branch that calls take all leave the function."""
    last = node.body.body[-1] if node.body.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    ends = isinstance(last, cst.Return | cst.Raise)
    if isinstance(node, cst.Else):
        return ends
    taken = recorder.sides.get(node, {True, False})
    orelse = node.orelse
    goes_on = False in taken and (orelse is None or not _leaves(orelse, recorder))
    return not goes_on and (ends or True not in taken)


def leave_out(node: cst.Call, recorder: Recorder) -> None:
    """Write an error in the place of a submodule that is never built."""
    recorder.replace(node, f'{NOT_BUILT.name}("{code_of(node.func)}")')
    if NOT_BUILT not in recorder.plan.helpers:
        recorder.plan.helpers = (*recorder.plan.helpers, NOT_BUILT)
