"""Assignments that nothing reads when submodules are built elsewhere: of transforms, partials, initializers."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.plan import ClassPlan, Site
from typed_nnx_codegen.migrate.linen.running.frames import Recorder
from typed_nnx_codegen.migrate.linen.running.references import ClassTransform
from typed_nnx_codegen.migrate.linen.state.detached_layers import Reading


def drop_leftovers(recorder: Recorder) -> None:
    """Note in the plan the statements that are not needed any more, and replace other transforms."""
    plan = recorder.plan
    used: dict[cst.CSTNode, Site] = {}
    for site in plan.sites:
        for one in site.transforms:
            if isinstance(one, ClassTransform) and one.node is not None:
                used[one.node] = site
    first = {call for site in plan.sites for call, is_first in site.inits.items() if is_first}
    written: set[cst.CSTNode] = {site.node for site in plan.sites}
    written |= {node for node, code in plan.rebuilt.items() if isinstance(code, Reading)}
    for method in plan.cls.methods().values():
        _drop_in(method.node, {*used, *first}, written, recorder)
    for node, site in used.items():
        if isinstance(site.target, LinenClass) and node not in plan.replacements:
            plan.replacements[node] = site.code or site.target.name


def keep_marked(plan: ClassPlan) -> None:
    """Keep statements with a marker: it would go with them."""
    marked = {mark.node for mark in plan.marks}
    plan.dropped -= {
        statement
        for statement in plan.dropped
        if any(node in marked for node in descendants(statement))
    }


def _drop_in(
    function: cst.FunctionDef,
    used: set[cst.CSTNode],
    written: set[cst.CSTNode],
    recorder: Recorder,
) -> None:
    assigned = [
        (line, name, value)
        for line, name, value in _assignments(function)
        if _has(value, used) or (_is_partial(value) and (used or isinstance(value, cst.Call)))
    ]
    dropped: set[cst.CSTNode] = {line for line, _, _ in assigned}
    while True:
        read = {node.value for node in _reads(function, dropped | written)}
        needed = {line for line, name, _ in assigned if name in read} & dropped
        if not needed:
            break
        dropped -= needed
    transforms = {
        line for line, _, value in assigned if _has(value, used) or isinstance(value, cst.Call)
    }
    if dropped & transforms:
        recorder.plan.dropped |= dropped | set(_emptied(function, dropped))


def _emptied(function: cst.FunctionDef, dropped: set[cst.CSTNode]) -> Iterator[cst.If]:
    """Yield branches in which nothing is left."""
    for node in descendants(function):
        if not isinstance(node, cst.If) or node.orelse is not None:
            continue
        if all(statement in dropped for statement in node.body.body):
            yield node


def _assignments(
    function: cst.FunctionDef,
) -> Iterator[tuple[cst.BaseStatement, str, cst.CSTNode]]:
    for line in descendants(function.body):
        match line:
            case cst.FunctionDef(name=cst.Name(value=name), body=body):
                yield line, name, body
            case cst.SimpleStatementLine(
                body=[
                    cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)
                ]
            ):
                yield line, name, value


def _has(value: cst.CSTNode, used: set[cst.CSTNode]) -> bool:
    return any(one in used for one in (value, *descendants(value)))


def _is_partial(value: cst.CSTNode) -> bool:
    match value:
        case cst.Name() | cst.Attribute():
            return True
        case cst.Call(func=cst.Name(value="partial")):
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="partial"))):
            return True
    return False


def _reads(node: cst.CSTNode, gone: set[cst.CSTNode]) -> Iterator[cst.Name]:
    """Yield the names that are read, outside of what is gone."""
    if node in gone:
        return
    if isinstance(node, cst.Name):
        yield node
        return
    if isinstance(node, cst.AssignTarget) and isinstance(node.target, cst.Name):
        return
    if isinstance(node, cst.Attribute):
        yield from _reads(node.value, gone)
        return
    for child in node.children:
        if not isinstance(node, cst.FunctionDef) or child is not node.name:
            yield from _reads(child, gone)
