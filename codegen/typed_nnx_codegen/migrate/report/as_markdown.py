"""The report for a pull request: Markdown, short enough for a description or a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from typed_nnx_codegen.migrate.findings import CHANGED, DECIDE, FileResult, Finding
from typed_nnx_codegen.migrate.report.run import Run, counted, place_of, rule_counts, told, totals
from typed_nnx_codegen.migrate.shown_text import shown

# What would be markup in a message, and is no code in backticks.
_MARKUP: Final = re.compile(r"(`[^`]*`)|([\\*_<>\[\]|&#`])")
_BAR: Final = re.compile(r"(?<!\\)\|")
# A comment on GitHub holds 65,536 characters.
_MOST_CHANGES: Final = 200


def markdown_report(run: Run, results: Sequence[FileResult]) -> str:
    """Return the report as Markdown."""
    files = told(results)
    sections = [
        _head(run, results),
        _table(run, results),
        _section("What a person must decide", _decisions(run, files)),
        _section("Could not be migrated", _failures(run, files)),
        _section("What changed" if run.written else "What would change", _changes(run, files)),
    ]
    return "\n\n".join(filter(None, sections)) + "\n"


def _head(run: Run, results: Sequence[FileResult]) -> str:
    found = totals(results)
    since = f", from flax {run.from_release}" if run.from_release else ""
    return (
        f"# Migration to `{run.target}`\n\n"
        f"typed-nnx {run.tool_version}{since}. "
        f"{counted(found.changed, 'place')} in {counted(found.changed_files, 'file')} "
        f"{'changed' if run.written else 'would change'}, "
        f"{counted(found.decide, 'place')} to decide, "
        f"{counted(found.failed_files, 'file')} could not be migrated; "
        f"{counted(found.files, 'file')} checked."
    )


def _table(run: Run, results: Sequence[FileResult]) -> str:
    rows = [
        f"| {each.rule.code} | {_cell(each.rule.title)} "
        f"| {each.changed} | {each.decide} | {each.files} |"
        for each in rule_counts(run, results)
    ]
    head = ["| Rule | What it does | Changed | To decide | Files |", "|---|---|--:|--:|--:|"]
    return "\n".join([*head, *rows]) if rows else ""


def _section(title: str, lines: Iterator[str]) -> str:
    body = "\n".join(lines)
    return f"## {title}\n\n{body}" if body else ""


def _decisions(run: Run, files: Sequence[FileResult]) -> Iterator[str]:
    for result in files:
        for each in result.findings:
            if each.kind == DECIDE:
                code = f": {_code(each.before)}" if each.before else ""
                yield f"- [ ] {_place(run, result, each)} {each.code}{code}  "
                yield f"  {_text(each.message)}"


def _failures(run: Run, files: Sequence[FileResult]) -> Iterator[str]:
    for result in files:
        if result.error:
            yield f"- {_code(run.shown_path(result.path))}: {_text(result.error)}"


def _changes(run: Run, files: Sequence[FileResult]) -> Iterator[str]:
    places = [
        (result, each) for result in files for each in result.findings if each.kind == CHANGED
    ]
    for result, each in places[:_MOST_CHANGES]:
        change = (
            f"{_code(each.before)} → {_code(each.after)}" if each.after else _text(each.message)
        )
        yield f"- {_place(run, result, each)} {each.code}: {change}"
    if len(places) > _MOST_CHANGES:
        yield f"- and {len(places) - _MOST_CHANGES} more"


def _place(run: Run, result: FileResult, finding: Finding) -> str:
    return f"{_code(run.shown_path(result.path))}, {place_of(finding)}:"


def _code(text: str) -> str:
    """Return code in as many backticks as it needs."""
    line = " ".join(shown(text).split())
    if not line:
        return ""
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def _text(markdown: str) -> str:
    """Return a line of Markdown in which only code in backticks is markup."""
    line = " ".join(shown(markdown).split())
    return _MARKUP.sub(lambda found: found[1] or f"\\{found[2]}", line)


def _cell(markdown: str) -> str:
    """Return text for a cell of a table, where a bar ends the cell even in code."""
    return _BAR.sub(r"\\|", _text(markdown))
