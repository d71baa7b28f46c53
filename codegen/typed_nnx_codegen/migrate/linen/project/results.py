"""What the migration of Linen code gives: the new text of a file, its map, what it found."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.findings import CHANGED, DECIDE, Finding
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan, Mark
from typed_nnx_codegen.migrate.linen.domain.markers import CLASS, TITLES

VERSION = 1
_LONGEST_CODE = 200


@dataclass(frozen=True)
class LinenResult:
    """What became of a file.

    Attributes:
        path: The file.
        before: Its text.
        after: Its text when migrated; the same where it has nothing of Linen.
        plans: The modules that it defines.
        findings: What was migrated, and what is left to a person.
        error: Why the file, or a module of it, could not be migrated; empty where all could.
    """

    path: Path
    before: str
    after: str
    plans: tuple[ClassPlan, ...] = field(default=())
    findings: tuple[Finding, ...] = ()
    error: str = ""

    @property
    def map(self) -> dict[str, object]:
        """The weight map, as JSON has it; its classes are empty where nothing was migrated."""
        classes = {plan.cls.name: _in_map(plan) for plan in self.plans if not plan.stays}
        return {"version": VERSION, "classes": classes}


def _in_map(plan: ClassPlan) -> dict[str, object]:
    lifted = [{"name": one.name, "expr": one.expression} for one in plan.lifted if one.expression]
    variables = {
        one.linen: {"to": one.to, **one.change} if one.change else one.to for one in plan.entries
    }
    return {"lifted": lifted, "variables": variables}


def as_it_was(result: LinenResult, before: str) -> LinenResult:
    """Return the result of a file that was read with other text; lines are those of the file.

    Args:
        result: The result.
        before: The text of the file.
    """
    if result.before == before:
        return result
    untouched = result.after == result.before and all(plan.stays for plan in result.plans)
    after = before if untouched else result.after
    lines = _lines_before(before, result.before)
    last = len(lines)
    found = [replace(one, line=lines[min(one.line, last) - 1]) for one in result.findings]
    return replace(result, before=before, after=after, findings=tuple(sorted(found)))


def _lines_before(before: str, read: str) -> list[int]:
    """Return for each line of the text that was read the line of the file that it was."""
    old, new = before.splitlines(), read.splitlines()
    found = [1] * len(new)
    for _, start, stop, first, end in SequenceMatcher(None, old, new, False).get_opcodes():
        for number in range(first, end):
            found[number] = min(start + number - first, max(stop - 1, start)) + 1
    return [min(number, max(len(old), 1)) for number in found]


def map_path(path: Path) -> Path:
    """Return the file that has the map of a migrated file."""
    return path.with_suffix(".migration.json")


def map_text(new: Mapping[str, object], old: Mapping[str, object] | None) -> str:
    """Return a map as it is written, with the classes of the map that was there before.

    Args:
        new: The map.
        old: The map that was there, if there was one.
    """
    merged = dict(old or {}) | dict(new)
    before, after = (_classes(one) for one in (old or {}, new))
    merged["classes"] = before | after
    return json.dumps(merged, indent=2, ensure_ascii=False) + "\n"


def _classes(one: Mapping[str, object]) -> dict[str, object]:
    found = one.get("classes")
    return dict(found) if isinstance(found, dict) else {}


def findings_of(
    tree: cst.Module, plans: tuple[ClassPlan, ...], outside: Sequence[Mark] = ()
) -> tuple[Finding, ...]:
    """Return what was migrated in a file and what is left to a person, by line.

    Args:
        tree: The file.
        plans: The plans of its modules.
        outside: What is left to a person outside of modules.
    """
    if not plans and not outside:
        return ()
    positions = MetadataWrapper(tree, unsafe_skip_copy=True).resolve(PositionProvider)
    found: list[Finding] = []
    for plan in plans:
        for node, code, message in _told(plan):
            place = node if node in positions else plan.cls.node
            start = positions[place].start
            kind: Literal["changed", "decide"] = CHANGED if code == CLASS else DECIDE
            found.append(
                Finding(start.line, start.column, code, kind, message, before=_one_line(place))
            )
    for mark in outside:
        start = positions[mark.node].start
        code = _one_line(mark.node)
        found.append(
            Finding(start.line, start.column, mark.code, DECIDE, mark.message, before=code)
        )
    return tuple(sorted(dict.fromkeys(found)))


def _told(plan: ClassPlan) -> Iterator[tuple[cst.CSTNode, str, str]]:
    if not plan.stays:
        yield plan.cls.node, CLASS, TITLES[CLASS]
    for mark in plan.marks:
        yield mark.node, mark.code, mark.message


def _one_line(node: cst.CSTNode) -> str:
    """Return the code of a node without layout, cut where it is long."""
    if isinstance(node, cst.ClassDef):
        node = node.with_changes(
            leading_lines=(), decorators=(), body=cst.SimpleStatementSuite([cst.Pass()])
        )
        text = code_of(node).strip().removesuffix("pass").strip()
    else:
        bare = node.with_changes(leading_lines=()) if hasattr(node, "leading_lines") else node
        text = " ".join(code_of(bare).split())
    return text if len(text) <= _LONGEST_CODE else text[: _LONGEST_CODE - 1] + "…"
