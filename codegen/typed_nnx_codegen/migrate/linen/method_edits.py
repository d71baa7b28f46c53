"""What changes in the methods of a module beside the constructors of submodules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.frames import CallEdit, Recorder
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.plan import Site
from typed_nnx_codegen.migrate.linen.replacing import code_with

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.executor import Executor
    from typed_nnx_codegen.migrate.linen.naming import Naming


def edit_methods(recorder: Recorder, naming: Naming, executor: Executor) -> None:
    """Note in the plan how calls of submodules are written, and which lists methods go through."""
    del executor
    plan = recorder.plan
    for node, edits in recorder.edits.items():
        _edit(recorder, node, edits)
    for name, sites in naming.lists.items():
        for method in dict.fromkeys(site.method for site in sites):
            plan.iterators.setdefault(method, []).append(name)


def _edit(recorder: Recorder, node: cst.Call, edits: list[CallEdit]) -> None:
    wanted = [_written(recorder, node, edit) for edit in edits]
    different = {text for text in wanted if text is not None}
    if len(different) > 1 or (different and None in wanted):
        recorder.mark(node, "the submodules that are called here take different arguments")
        return
    if different:
        recorder.plan.calls[node] = different.pop()


def _written(recorder: Recorder, node: cst.Call, edit: CallEdit) -> str | None:
    """Return the arguments of a call, as code; None where they stay."""
    replacements = recorder.plan.replacements
    moved = _moved(edit.site)
    if edit.arguments is None and not moved:
        return None
    if edit.arguments is None:
        codes = [code_with(arg.with_changes(comma=cst.MaybeSentinel.DEFAULT), {}) for arg in node.args]
        codes = [
            (f"{arg.keyword.value}=" if arg.keyword else arg.star) + code_with(arg.value, replacements)
            for arg in node.args
        ]
    else:
        codes = [
            (f"{keyword}=" if keyword else "") + code_with(value, replacements)
            for keyword, value in edit.arguments
        ]
    codes += [f"{name}={code_with(value, replacements)}" for name, value in moved.items()]
    return ", ".join(codes)


def _moved(site: Site | None) -> dict[str, cst.BaseExpression]:
    """Return the arguments of the constructor that depend on the call, to give there."""
    if site is None or not isinstance(site.target, str):
        return {}
    layer = find_layer(site.target)
    if layer is None:
        return {}
    return {
        name: one.node
        for name, one in site.given.items()
        if one.code is None and name in layer.movable and one.node is not None
    }


__all__ = ["code_of", "edit_methods"]
