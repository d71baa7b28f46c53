"""Methods that several classes have: what each of them needs in the one body that there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.marker_codes import NAME
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.plan import ClassPlan, Mark, Rebuilt
from typed_nnx_codegen.migrate.linen.writing.mark_places import MOVED_METHODS

Written = TypeVar("Written", str, list[str], list[tuple[str, str]], Rebuilt)
_DIFFERENT = "classes that inherit this method need different code here"


@dataclass
class MethodCode:
    """What is written differently in methods.

    Attributes:
        code: Other code, by node.
        calls: Other arguments, by call.
        iterators: The lists of submodules that a method begins to go through, by method.
        parameters: Those that a method is given by its callers, by method.
        extras: Such lists that a call passes on, by call.
        added: Keywords that a method gets, and the lines that begin with them, by method.
        rebuilt: Calls that are written anew, by call.
        writes: Statements that write a variable, and how its value is read.
        dropped: Statements and decorators that go.
    """

    code: dict[cst.CSTNode, str] = field(default_factory=dict)
    calls: dict[cst.CSTNode, str] = field(default_factory=dict)
    iterators: dict[cst.CSTNode, list[str]] = field(default_factory=dict)
    parameters: dict[cst.CSTNode, list[str]] = field(default_factory=dict)
    extras: dict[cst.CSTNode, list[str]] = field(default_factory=dict)
    added: dict[cst.CSTNode, list[tuple[str, str]]] = field(default_factory=dict)
    rebuilt: dict[cst.CSTNode, Rebuilt] = field(default_factory=dict)
    writes: dict[cst.CSTNode, str] = field(default_factory=dict)
    dropped: set[cst.CSTNode] = field(default_factory=set)


def merged(plans: Iterable[ClassPlan]) -> MethodCode:
    """Return what the methods of all classes need; where they differ, both get a marker."""
    found = MethodCode()
    owners: dict[cst.CSTNode, ClassPlan] = {}
    written = [plan for plan in plans if not plan.stays]
    for plan in written:
        _merge(found.code, plan.replacements, plan, owners)
        _merge(found.calls, plan.calls, plan, owners)
        _merge(found.iterators, plan.iterators, plan, owners)
        _merge(found.parameters, plan.parameters, plan, owners)
        _merge(found.extras, plan.extras, plan, owners)
        _merge(found.added, plan.added, plan, owners)
        _merge(found.writes, plan.writes, plan, owners)
        _merge(found.rebuilt, plan.rebuilt, plan, owners)
        found.dropped |= plan.dropped
    for node in [*found.iterators, *found.parameters]:
        for plan in written:
            needs = node in plan.iterators or node in plan.parameters
            if node in plan.methods and not needs and plan is not owners[node]:
                _mark(node, plan, owners[node])
    return found


def _merge(
    found: dict[cst.CSTNode, Written],
    more: Mapping[cst.CSTNode, Written] | Mapping[cst.Call, Written],
    plan: ClassPlan,
    owners: dict[cst.CSTNode, ClassPlan],
) -> None:
    for node, written in more.items():
        if node in found and found[node] != written:
            if not _is_moved(node, plan.cls):
                _mark(node, owners[node], plan)
            continue
        found[node] = written
        owners[node] = plan


def _is_moved(node: cst.CSTNode, cls: LinenClass) -> bool:
    """Whether a node is in a method that goes: the constructor of each class has its code."""
    methods = (one.own_methods.get(name) for one in cls.ancestry() for name in MOVED_METHODS)
    return any(
        node is below for one in methods if one is not None for below in descendants(one.node)
    )


def _mark(node: cst.CSTNode, *plans: ClassPlan) -> None:
    for one in plans:
        if not any(mark.node is node for mark in one.marks):
            one.marks.append(Mark(node, _DIFFERENT, NAME))
