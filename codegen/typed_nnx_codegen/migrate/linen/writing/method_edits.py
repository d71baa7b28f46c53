"""What changes in the methods of a module beside the constructors of submodules."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from typed_nnx_codegen.migrate.linen.running.frames import CallEdit, Recorder
from typed_nnx_codegen.migrate.linen.running.input_dtypes import cast_at, cast_result
from typed_nnx_codegen.migrate.linen.staying.bridging import mutable
from typed_nnx_codegen.migrate.linen.writing.moving import Moving
from typed_nnx_codegen.migrate.linen.writing.replacing import code_with, passed_token

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.names.naming import Naming


def edit_methods(
    recorder: Recorder, naming: Naming, moving: Moving, refer: Callable[[str], str]
) -> None:
    """Note in the plan how calls of submodules are written, and which lists methods go through."""
    for node, edits in recorder.edits.items():
        _edit(recorder, node, edits, refer, moving)
    _pass_lists(recorder, naming)
    moving.finish()


def _pass_lists(recorder: Recorder, naming: Naming) -> None:
    """Begin to go through lists of submodules where callers enter; other methods are given them."""
    plan = recorder.plan
    needs: dict[cst.CSTNode, list[str]] = {}
    for name, sites in naming.lists.items():
        methods = {site.method_node for site in sites if site.method_node is not None}
        only = methods.pop() if len(methods) == 1 else None
        if only is not None and _runs_once(recorder, only):
            _add(plan.iterators, only, name)
            continue
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
        kind[method] = [*kind.get(method, ()), *names]
    for _, call, called in recorder.self_calls:
        if called in plan.parameters:
            plan.extras[call] = [f"{name}={name}" for name in plan.parameters[called]]


def _runs_once(recorder: Recorder, method: cst.FunctionDef) -> bool:
    """Whether a method runs once for each call of the module from outside."""
    calls = [caller for caller, _, called in recorder.self_calls if called is method]
    if method in recorder.repeated or len(calls) > 1:
        return False
    return not calls or _runs_once(recorder, calls[0])


def _add(needs: dict[cst.CSTNode, list[str]], method: cst.CSTNode, name: str) -> bool:
    names = needs.setdefault(method, [])
    if name in names:
        return False
    names.append(name)
    return True


def _edit(
    recorder: Recorder,
    node: cst.Call,
    edits: list[CallEdit],
    refer: Callable[[str], str],
    moving: Moving,
) -> None:
    wanted = [_written(recorder, node, edit, refer, moving) for edit in edits]
    different = {text for text in wanted if text is not None}
    if len(different) > 1 or (different and None in wanted):
        recorder.mark(node, "the submodules that are called here take different arguments")
        return
    if different:
        recorder.plan.calls[node] = different.pop()


def _written(
    recorder: Recorder,
    node: cst.Call,
    edit: CallEdit,
    refer: Callable[[str], str],
    moving: Moving,
) -> str | None:
    """Return the arguments of a call, as code; None where they stay."""
    # What is rewritten within the arguments is there when the file is written.
    replacements = recorder.plan.replacements | {
        arg.value: passed_token(position) for position, arg in enumerate(node.args)
    }
    if edit.site is not None and edit.site.is_bridged:
        if not edit.site.updates:
            return None
        codes = [
            (f"{arg.keyword.value}=" if arg.keyword else arg.star)
            + code_with(arg.value, replacements)
            for arg in node.args
        ]
        return ", ".join([*codes, mutable(refer)])
    moved = moving.at_call(node, edit)
    cast_result(edit, node, recorder)
    dtype = cast_at(edit.site, node, recorder, recorder.plan.replacements)
    if edit.arguments is None and not moved and not dtype:
        return None
    if edit.arguments is None:
        codes = [
            (f"{arg.keyword.value}=" if arg.keyword else arg.star)
            + code_with(arg.value, replacements)
            for arg in node.args
        ]
    else:
        codes = [
            (f"{keyword}=" if keyword else "") + code_with(value, replacements)
            for keyword, value in edit.arguments
        ]
    if dtype:
        codes[0] = f"({codes[0]}).astype({dtype})"
    codes += [code if name[:2] == "**" else f"{name}={code}" for name, code in moved.items()]
    return ", ".join(codes)
