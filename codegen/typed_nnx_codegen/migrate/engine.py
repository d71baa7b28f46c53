"""Migrates one text: analysis, the pass over the tree, imports; until nothing changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from typed_nnx_codegen.migrate import rules as _rules  # registers all
from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.members import ancestry
from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.analysis.values import NNX, External, Instance
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.findings import CHANGED, DECIDE, Finding, Migrated
from typed_nnx_codegen.migrate.import_statements import finish_imports
from typed_nnx_codegen.migrate.moved_lines import MovedLines
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.project import Project
from typed_nnx_codegen.migrate.registry import Rule, all_rules
from typed_nnx_codegen.migrate.rewriting import Pass, Place, Rewritten

_MOST_PASSES: Final = 6
_LONGEST_CODE: Final = 200
__all__ = ["MigrationError", "migrate_text"]
del _rules


class MigrationError(Exception):
    """The text cannot be migrated; the message says why (it does not parse, rules do not settle)."""


def migrate_text(text: str, path: Path, project: Project, options: Options) -> Migrated:
    """Migrate the text of one Python file.

    Args:
        text: The text; line ends are those of the file.
        path: The file that it is from, for imports of the project and for messages.
        project: The files that imports may lead to.
        options: What is asked for.

    Raises:
        MigrationError: The text does not parse, or the rules do not come to an end.
    """
    findings: list[Finding] = []
    current = text
    for number in range(_MOST_PASSES):
        after, found = _pass(current, path, project, options, is_first=number == 0)
        findings += found if number == 0 else _in_lines_of(text, current, found)
        if after == current:
            return Migrated(text if current == text else current, tuple(sorted(findings)))
        current = after
    raise MigrationError("the rules do not come to an end: each pass changes the code again")


def _pass(
    text: str, path: Path, project: Project, options: Options, *, is_first: bool
) -> tuple[str, list[Finding]]:
    try:
        tree = cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise MigrationError(
            f"line {error.raw_line}: it does not parse: {error.message}"
        ) from error
    analysis = project.analyse(tree, path)
    if not _uses_nnx(analysis):
        return text, []
    file = File(analysis, options)
    rules = [rule(file) for rule in all_rules() if options.applies(rule.code)]
    file.names.plan_renames({old: new for rule in rules for old, new in rule.names.items()})
    for rule in rules:
        rule.plan()
    rewriting = Pass(file, rules)
    after = rewriting.rewritten(tree)
    places = rewriting.places
    code = text if after is tree else finish_imports(tree, after, file).code
    if not is_first:
        # What is left to a person was found by the first pass.
        places = [place for place in places if place.kind == CHANGED]
    return code, _findings(tree, places, rules) if places else []


def _in_lines_of(text: str, current: str, found: Sequence[Finding]) -> list[Finding]:
    """Return what a later pass changed, with its lines in the first text."""
    if not found:
        return []
    moved = MovedLines(current.splitlines(), text.splitlines())
    return [replace(one, line=moved.line(one.line)) for one in found]


def _uses_nnx(analysis: Analysis) -> bool:
    seen: set[int] = set()  # classes of the project that have nothing of NNX
    for value in analysis.values.values():
        if isinstance(value, External):
            if value.public == NNX or value.public.startswith(f"{NNX}."):
                return True
        elif isinstance(value, Instance) and value.cls != "" and id(value.cls) not in seen:
            if any(isinstance(base, str) for base in ancestry(value.cls)[0]):
                return True
            seen.add(id(value.cls))
    scopes = (analysis.scope, *analysis.scopes.values())
    return any(
        binding.full.startswith(("flax", "typed_nnx"))
        for scope in scopes
        for binding in scope.imports.values()
    )


def _findings(tree: cst.Module, places: Sequence[Place], rules: Sequence[Rule]) -> list[Finding]:
    wrapper = MetadataWrapper(tree, unsafe_skip_copy=True)
    positions = wrapper.resolve(PositionProvider)
    titles = {rule.code: rule.title for rule in rules}
    found: list[Finding] = []
    for place in places:
        start = positions[place.node].start
        found.append(
            Finding(
                line=start.line,
                column=start.column,
                code=place.code,
                kind=CHANGED if place.kind == CHANGED else DECIDE,
                message=place.message or titles[place.code],
                before=_one_line(place.node),
                after=_one_line(place.after) if place.after is not None else "",
            )
        )
    return list(dict.fromkeys(found))


def _one_line(node: Rewritten) -> str:
    """Return the code of a node without layout, cut where it is long."""
    if isinstance(node, cst.FlattenSentinel):
        text = " ".join(_one_line(part) for part in node)
    elif isinstance(node, cst.CSTNode):
        if getattr(node, "leading_lines", None):
            node = node.with_changes(leading_lines=())
        text = " ".join(code_of(node).split())
    else:
        text = ""
    return text if len(text) <= _LONGEST_CODE else text[: _LONGEST_CODE - 1] + "…"
