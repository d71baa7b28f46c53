"""Attributes that `setup` computes from variables: properties, since variables change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.builders.borrowed_names import names_in_code
from typed_nnx_codegen.migrate.linen.marker_codes import CALL
from typed_nnx_codegen.migrate.linen.names.free_names import free_name
from typed_nnx_codegen.migrate.linen.running.frames import Derived, Frame, Line, Recorder
from typed_nnx_codegen.migrate.linen.running.references import (
    BoundMethod,
    ModuleValue,
    VariableValue,
)
from typed_nnx_codegen.migrate.linen.running.values import Value
from typed_nnx_codegen.migrate.linen.writing.replacing import code_with

_DECLARES = ("param", "variable", "get_variable")


def is_derived(node: cst.SimpleStatementLine, frame: Frame) -> bool:
    """Whether a statement of `setup` computes from variables what belongs in a property.

    What it computes is noted either way.
    """
    recorder = frame.recorder
    owner = _owner(frame)
    if len(node.body) != 1 or not owner:
        return False
    match node.body[0]:
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
            pass
        case cst.AnnAssign(target=target, value=cst.BaseExpression() as value):
            pass
        case _:
            return False
    if not _is_stale(value, owner, frame):
        return False
    match target:
        case cst.Name(value=name):
            recorder.stale[name] = node
            return False
        case cst.Attribute(value=cst.Name(value=of), attr=attr) if of == owner:
            found = _found(value, frame)
            is_plain = not recorder.conditions and not recorder.loops
            if is_plain and not isinstance(found, ModuleValue):
                before = tuple(_needed(value, recorder))
                _keep_locals(attr.value, (value, *before), owner, frame)
                recorder.derived[node] = Derived(attr.value, value, before, owner)
                recorder.stale[f"{owner}.{attr.value}"] = None
                return True
    recorder.mark(node, "it is computed from variables once; Linen computes it at each call", CALL)
    return False


def write_properties(recorder: Recorder) -> None:
    """Write the properties of a module into its plan."""
    replacements = recorder.plan.replacements
    for one in recorder.derived.values():
        lines = ["@property", f"def {one.attribute}({one.owner}):"]
        for statement in one.before:
            lines += [
                f"    {line}" for line in code_with(statement, replacements).strip().split("\n")
            ]
        lines.append(f"    return {code_with(one.value, replacements)}")
        recorder.plan.properties[one.attribute] = "\n".join(lines)


def _keep_locals(attribute: str, nodes: Sequence[cst.CSTNode], owner: str, frame: Frame) -> None:
    """Let the object keep the locals of `setup` that a property reads.

    Args:
        attribute: The property.
        nodes: Its code.
        owner: The name of the object in `setup`.
        frame: The frame of `setup`.
    """
    recorder = frame.recorder
    cls = recorder.plan.cls
    taken = {one.name for one in cls.fields()} | set(cls.methods())
    kept: dict[str, str] = {}
    for node in nodes:
        written = [one for one in descendants(node) if one in recorder.plan.replacements]
        aside = {id(part) for one in written for part in descendants(one)}
        for below in names_in_code(node):
            name = below.value
            is_local = name in frame.names and name != owner and name not in recorder.stale
            if not is_local or id(below) in aside:
                continue
            if name not in kept:
                kept[name] = free_name(f"{attribute}_{name}", taken)
                recorder.block.append(Line(f"self.{kept[name]} = {name}"))
            recorder.replace(below, f"{owner}.{kept[name]}")


def _owner(frame: Frame) -> str:
    params = None if frame.method is None else frame.method.node.params
    first = [] if params is None else [*params.posonly_params, *params.params]
    return first[0].name.value if first else ""


def _found(value: cst.BaseExpression, frame: Frame) -> Value | None:
    return frame.values.get(value)


def _is_stale(value: cst.BaseExpression, owner: str, frame: Frame) -> bool:
    """Whether an expression reads variables; one that makes the variable itself does not."""
    recorder = frame.recorder
    target = recorder.setup_target
    match value:
        case cst.Call(func=cst.Attribute(cst.Name(value=name), cst.Name(value="param"))):
            if name == owner and target is not None and value is target[0]:
                return False  # the first value, which counts once in Linen, too
    for node in descendants(value):
        match node:
            case cst.Call(func=cst.Attribute(value=cst.Name(value=name), attr=attr)) if (
                name == owner
            ):
                is_target = target is not None and node is target[0]
                if attr.value in _DECLARES and not is_target:
                    return attr.value != "variable" or node is not value
                callee = _found(node.func, frame)
                method = callee.method if isinstance(callee, BoundMethod) else None
                if method is not None and _declares(method.node, recorder):
                    return True
            case cst.Attribute(value=cst.Name(value=name), attr=attr) if name == owner:
                if attr.value in recorder.params or f"{owner}.{attr.value}" in recorder.stale:
                    return True
            case cst.Attribute(attr=cst.Name(value="value")):
                if isinstance(_found(node.value, frame), VariableValue):
                    return True
            case cst.Name(value=name) if name in recorder.stale:
                return True
    return False


def _declares(method: cst.FunctionDef, recorder: Recorder) -> bool:
    names = (*_DECLARES, *recorder.params)
    return any(
        isinstance(node, cst.Attribute) and node.attr.value in names for node in descendants(method)
    )


def _needed(value: cst.BaseExpression, recorder: Recorder) -> Iterator[cst.BaseStatement]:
    """Yield the statements that give the locals in an expression, in their order."""
    names = {one.value for one in descendants(value) if isinstance(one, cst.Name)}
    found: list[cst.BaseStatement] = []
    for name, statement in reversed(recorder.stale.items()):
        if name in names and statement is not None:
            found.append(statement)
            names |= {one.value for one in descendants(statement) if isinstance(one, cst.Name)}
    yield from reversed(found)
