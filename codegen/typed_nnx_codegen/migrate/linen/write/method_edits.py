"""What changes in the methods of a module beside the constructors of submodules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    CallElsewhere,
    Enter,
    ListUse,
    Site,
)
from typed_nnx_codegen.migrate.linen.domain.code import code_with, passed_token
from typed_nnx_codegen.migrate.linen.domain.frames import CallEdit, Frame, Recorder
from typed_nnx_codegen.migrate.linen.layers import Argument, Built, find_layer
from typed_nnx_codegen.migrate.linen.layers.definitions import IN_DTYPE_OF_INPUTS, KEEP_DTYPES
from typed_nnx_codegen.migrate.linen.plan.site_names import snake_case
from typed_nnx_codegen.migrate.linen.project.gradual import mutable
from typed_nnx_codegen.migrate.linen.write.moving import Moving, is_same_there

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.plan.naming import Naming

SETTING: Final = "dtype"
# Layers that do nothing before they bring inputs and parameters to their dtype, nor after it.
_TYPED: Final = frozenset({"nnx.Linear", "nnx.LinearGeneral", "nnx.Conv", "nnx.ConvTranspose"})
# Layers that compute in their own way, and bring their result to their dtype in the end.
_CAST_RESULTS: Final = frozenset({"nnx.LayerNorm", "nnx.RMSNorm"})


def follows_inputs(site: Site, recorder: Recorder) -> bool:
    """Whether a layer computes in a dtype that is known at all of its calls, and only there.

    Args:
        site: The layer.
        recorder: What was seen of the module.
    """
    if _array_of(site) is None or site.transforms or site.stacks or site.alternatives:
        return False
    calls = list(_calls(site, recorder))
    return (
        bool(calls)
        and not recorder.log.about(CallElsewhere, site)
        and all(_is_known_at(site, node, edit) for node, edit in calls)
    )


def typed(site: Site, built: Built, recorder: Recorder) -> Built:
    """Return how a layer is constructed, so that its parameters follow its inputs if it does.

    Args:
        site: The layer.
        built: How it is constructed without that.
        recorder: What was seen of the module.
    """
    if not follows_inputs(site, recorder):
        return built
    kept = tuple(one for one in built.arguments if one.keyword != SETTING)
    helper = KEEP_DTYPES if built.cls in _CAST_RESULTS else IN_DTYPE_OF_INPUTS
    others = tuple(one for one in kept if one.keyword != "promote_dtype")
    added = Argument("promote_dtype", helper.name)
    helpers = tuple(dict.fromkeys((*built.helpers, helper)))
    return replace(built, arguments=(*others, added), helpers=helpers)


def cast_at(
    site: Site | None, node: cst.Call, recorder: Recorder, replacements: dict[cst.CSTNode, str]
) -> str:
    """Return the dtype that the inputs of a call are brought to; empty where they have it.

    Args:
        site: The layer that is called.
        node: The call.
        recorder: What was seen of the module.
        replacements: What is written in the place of parts of the file.
    """
    array = None if site is None else _array_of(site)
    if site is None or array is None or not follows_inputs(site, recorder):
        return ""
    first = node.args[0].value
    if isinstance(first, cst.Name) and first.value == array.value:
        return ""
    dtype = site.given[SETTING].node
    assert dtype is not None
    return code_with(dtype, replacements)


def cast_result(edit: CallEdit, node: cst.Call, recorder: Recorder) -> None:
    """Note that what a call of a norm gives is brought to the dtype of its inputs.

    Args:
        edit: How the call is written otherwise.
        node: The call.
        recorder: What was seen of the module.
    """
    site = edit.site
    if site is None or _array_of(site) is None or not follows_inputs(site, recorder):
        return
    dtype = site.given[SETTING].node
    if dtype is not None and _casts_result(site):
        recorder.replace(
            node,
            lambda _, updated: cst.Call(
                cst.Attribute(updated, cst.Name("astype")), [cst.Arg(dtype)]
            ),
        )


def _array_of(site: Site) -> cst.Name | None:
    """Return the array whose dtype a layer has, where only calls know it; None where it has none."""
    layer = find_layer(site.target) if isinstance(site.target, str) else None
    bound = site.given.get(SETTING)
    if (
        layer is None
        or layer.nnx not in _TYPED | _CAST_RESULTS
        or bound is None
        or "promote_dtype" in site.given
    ):
        return None
    if bound.code is not None or bound.hidden:
        return None
    match bound.node:
        case cst.Attribute(value=cst.Name() as array, attr=cst.Name(value="dtype")):
            return array if array.value != "self" else None
    return None


def _calls(site: Site, recorder: Recorder) -> Iterator[tuple[cst.Call, CallEdit]]:
    for edit in recorder.log.of(CallEdit):
        if edit.site is site:
            yield edit.node, edit


def _is_known_at(site: Site, node: cst.Call, edit: CallEdit) -> bool:
    bound = site.given[SETTING]
    first = node.args[0] if node.args else None
    if first is None or first.keyword is not None or first.star or edit.called != "__call__":
        return False
    if _casts_result(site) and (edit.arguments is not None or len(node.args) != 1):
        return False
    return (
        isinstance(bound.place, Frame)
        and bound.node is not None
        and edit.frame is not None
        and edit.frame.method is not None
        and is_same_there(bound.node, bound.place, edit.frame, node)
    )


def _casts_result(site: Site) -> bool:
    layer = find_layer(site.target) if isinstance(site.target, str) else None
    return layer is not None and layer.nnx in _CAST_RESULTS


def edit_methods(
    recorder: Recorder, naming: Naming, moving: Moving, refer: Callable[[str], str]
) -> None:
    """Note in the plan how calls of submodules are written, and which lists methods go through."""
    for edits in recorder.log.groups(CallEdit):
        _edit(recorder, edits[0].node, edits, refer, moving)
    _pass_lists(recorder, naming)
    moving.finish()


def _pass_lists(recorder: Recorder, naming: Naming) -> None:
    """Begin to go through lists of submodules where callers enter; other methods are given them."""
    plan = recorder.plan
    self_calls = recorder.self_calls
    needs: dict[cst.CSTNode, list[str]] = {}
    for name, sites in naming.lists.items():
        methods = {site.method_node for site in sites if site.method_node is not None}
        only = methods.pop() if len(methods) == 1 else None
        if only is not None and _runs_once(recorder, only):
            plan.iterators.setdefault(only, []).append(_use(name, sites, recorder))
            continue
        for site in sites:
            if site.method_node is not None:
                _add(needs, site.method_node, name)
    changed = True
    while changed:
        changed = False
        for caller, _, called in self_calls:
            for name in list(needs.get(called, ())):
                changed = _add(needs, caller, name) or changed
    called_nodes = {called for _, _, called in self_calls}
    for method, names in needs.items():
        if method in called_nodes:
            plan.parameters[method] = [*plan.parameters.get(method, ()), *names]
        else:
            uses = plan.iterators.setdefault(method, [])
            uses += [ListUse(name) for name in names if name not in {one.name for one in uses}]
    for _, call, called in self_calls:
        if called in plan.parameters:
            plan.extras[call] = [f"{name}={name}" for name in plan.parameters[called]]


def _use(name: str, sites: list[Site], recorder: Recorder) -> ListUse:
    """Return how the only method that goes through a list does that."""
    alone = [site for site in sites if not site.loops]
    looped = [site for site in sites if site.loops]
    loops = {site.loops for site in looped}
    is_even = (
        not recorder.plan.marks
        and not any(site.branches or site.is_open for site in sites)
        and not any(one.is_of_call for site in sites for one in site.conditions)
        and not any(site.conditions for site in alone)
        and all(len(one) == 1 for one in loops)
        and bool(loops)
    )
    return ListUse(name, snake_case(sites[0].class_name), len(alone) if is_even else None)


def _runs_once(recorder: Recorder, method: cst.FunctionDef) -> bool:
    """Whether a method runs once for each call of the module from outside."""
    calls = [caller for caller, _, called in recorder.self_calls if called is method]
    if any(one.is_repeated for one in recorder.log.about(Enter, method)) or len(calls) > 1:
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
    passed: dict[cst.CSTNode, str] = {
        arg.value: passed_token(position) for position, arg in enumerate(node.args)
    }
    replacements = recorder.plan.replacements | passed
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
