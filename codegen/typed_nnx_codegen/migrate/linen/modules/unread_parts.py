"""Submodules that `setup` builds and nothing reads: Linen gives them no variables, so they go."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants, is_name
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass, LinenClasses
from typed_nnx_codegen.migrate.linen.running.frames import Line, Recorder

_BY_NAME = ("getattr", "vars", "dir")


def drop_unread(recorder: Recorder, classes: LinenClasses) -> None:
    """Drop the statements of `setup` that build submodules which nothing reads.

    Args:
        recorder: What was seen of a module.
        classes: The modules of the project.
    """
    plan = recorder.plan
    for line in recorder.setup:
        statement = line.statement if isinstance(line, Line) else None
        attribute = _assigned(statement)
        if statement is None or attribute is None:
            continue
        within = set(descendants(statement))
        sites = [site for site in plan.sites if site.node in within]
        is_called = any(site.calls or site.alternatives for site in sites)
        if not sites or is_called or _is_read(attribute, plan.cls, classes):
            continue
        plan.dropped.add(statement)
        plan.sites = [site for site in plan.sites if site not in sites]


def _assigned(statement: cst.BaseStatement | None) -> cst.Attribute | None:
    """Return the attribute that a statement assigns; None where it does something else."""
    match statement:
        case cst.SimpleStatementLine(
            body=[
                cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Attribute(value=cst.Name()) as target)]
                )
            ]
        ):
            return target
    return None


def _is_read(attribute: cst.Attribute, cls: LinenClass, classes: LinenClasses) -> bool:
    """Whether an attribute of the objects of a module is read anywhere."""
    for one, owner in classes.reads_of(attribute.attr.value):
        # `self` in a module that has nothing to do with it is another object.
        is_related = owner is None or cls in owner.ancestry() or owner in cls.ancestry()
        if one is not attribute and (is_related or not is_name(one.value, "self")):
            return True
    return any(
        isinstance(one, cst.Name) and one.value in _BY_NAME
        for each in cls.ancestry()
        for one in descendants(each.node)
    )
