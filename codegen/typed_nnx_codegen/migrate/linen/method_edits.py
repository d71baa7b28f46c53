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
    _pass_lists(recorder, naming)


def _pass_lists(recorder: Recorder, naming: Naming) -> None:
    """Begin to go through lists of submodules where callers enter; other methods are given them."""
    plan = recorder.plan
    needs: dict[cst.CSTNode, list[str]] = {}
    for name, sites in naming.lists.items():
        for site in sites:
            if site.method_node is not None:
                _add(needs, site.method_node, name)
    changed = True
    while changed:
        changed = False
        for caller, _, called in recorder.self_calls:
            for name in list(needs.get(called, ())):
                changed = _add(needs, caller, name) or changed
    called_nodes = {called for _, _, called in recorder.self_calls}
    for method, names in needs.items():
        kind = plan.parameters if method in called_nodes else plan.iterators
        kind[method] = names
    for _, call, called in recorder.self_calls:
        if called in plan.parameters:
            plan.extras[call] = [f"{name}={name}" for name in plan.parameters[called]]


def _add(needs: dict[cst.CSTNode, list[str]], method: cst.CSTNode, name: str) -> bool:
    names = needs.setdefault(method, [])
    if name in names:
        return False
    names.append(name)
    return True


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
