"""Methods that several classes have: what each of them needs in the one body that there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import libcst as cst

from typed_nnx_codegen.migrate.linen.marker_codes import NAME
from typed_nnx_codegen.migrate.linen.plan import ClassPlan, Mark

Written = TypeVar("Written", str, list[str])
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
    """

    code: dict[cst.CSTNode, str] = field(default_factory=dict)
    calls: dict[cst.CSTNode, str] = field(default_factory=dict)
    iterators: dict[cst.CSTNode, list[str]] = field(default_factory=dict)
    parameters: dict[cst.CSTNode, list[str]] = field(default_factory=dict)
    extras: dict[cst.CSTNode, list[str]] = field(default_factory=dict)


def merged(plans: Iterable[ClassPlan]) -> MethodCode:
    """Return what the methods of all classes need; where they differ, both get a marker."""
    found = MethodCode()
    owners: dict[cst.CSTNode, ClassPlan] = {}
    for plan in plans:
        if plan.stays:
            continue
        _merge(found.code, plan.replacements, plan, owners)
        _merge(found.calls, plan.calls, plan, owners)
        _merge(found.iterators, plan.iterators, plan, owners)
        _merge(found.parameters, plan.parameters, plan, owners)
        _merge(found.extras, plan.extras, plan, owners)
    return found


def _merge(
    found: dict[cst.CSTNode, Written],
    more: Mapping[cst.CSTNode, Written] | Mapping[cst.Call, Written],
    plan: ClassPlan,
    owners: dict[cst.CSTNode, ClassPlan],
) -> None:
    for node, written in more.items():
        if node in found and found[node] != written:
            for one in (owners[node], plan):
                if not any(mark.node is node for mark in one.marks):
                    one.marks.append(Mark(node, _DIFFERENT, NAME))
            continue
        found[node] = written
        owners[node] = plan
