"""The report for reading: one HTML file that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib import resources
from typing import Final

from typed_nnx_codegen.migrate.findings import DECIDE, FileResult, Finding
from typed_nnx_codegen.migrate.report.changed_rows import Row, changed_rows
from typed_nnx_codegen.migrate.report.run import (
    RuleCount,
    Run,
    counted,
    place_of,
    rule_counts,
    told,
    totals,
)
from typed_nnx_codegen.migrate.shown_text import shown

_CODE: Final = re.compile(r"`([^`]*)`")
# With more files, the page begins as a list of them.
_MOST_OPEN: Final = 20
_SIGNS: Final = {"old": "-", "new": "+"}


def html_report(run: Run, results: Sequence[FileResult]) -> str:
    """Return the report as HTML."""
    counts = rule_counts(run, results)
    files = told(results)
    lines = [
        *_head(run, results),
        *_rules(counts),
        *_filter(counts, files),
        "<h2>Files</h2>",
        *(line for at, each in enumerate(files) for line in _file(run, each, at, len(files))),
        "<p>Nothing to change and nothing to decide.</p>" if not files else "",
        f"<script>\n{_part('page.js')}</script>" if files else "",
        "</body>\n</html>",
    ]
    return "\n".join(filter(None, lines)) + "\n"


# -- the top of the page ------------------------------------------------------------------------


def _head(run: Run, results: Sequence[FileResult]) -> Iterator[str]:
    found = totals(results)
    since = f", code for flax {_text(run.from_release)}" if run.from_release else ""
    done = "The files were written." if run.written else "Nothing was written: this was a dry run."
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Migration to {_text(run.target)}</title>"
    yield f"<style>\n{_part('page.css')}</style>\n</head>\n<body>"
    yield f"<h1>Migration to <code>{_text(run.target)}</code></h1>"
    yield f'<p class="quiet">typed-nnx {_text(run.tool_version)}{since}. {done} '
    yield "Lines are those of the files before.</p>"
    changed = "changed" if run.written else "would change"
    in_files = counted(found.changed_files, "file")
    tiles = (
        ("changed", counted(found.changed, "place"), f"{changed} in {in_files}"),
        ("decide", counted(found.decide, "place"), "for a person to decide"),
        ("failed", counted(found.failed_files, "file"), "could not be migrated"),
        ("quiet", counted(found.files, "file"), "checked"),
    )
    yield '<ul class="tiles">'
    yield from (f'<li><b class="{kind}">{number}</b>{what}</li>' for kind, number, what in tiles)
    yield "</ul>"


def _rules(counts: Sequence[RuleCount]) -> Iterator[str]:
    if not counts:
        return
    yield '<h2>Rules</h2>\n<div class="scroll">\n<table class="rules">\n<thead><tr><th>Rule</th>'
    yield "<th>What it does</th>"
    yield from (f'<th class="number">{name}</th>' for name in ("Changed", "To decide", "Files"))
    yield "</tr></thead>\n<tbody>"
    for each in counts:
        code = _text(each.rule.code)
        yield f'<tr><td><a href="#files" data-rule="{code}">{code}</a></td>'
        yield f"<td>{_prose(each.rule.title)}</td>"
        numbers = (each.changed, each.decide, each.files)
        yield "".join(f'<td class="number">{number:,}</td>' for number in numbers) + "</tr>"
    yield "</tbody>\n</table>\n</div>"


def _filter(counts: Sequence[RuleCount], files: Sequence[FileResult]) -> Iterator[str]:
    if not files:
        return
    kinds = (("", "everything"), ("decide", "to decide"), ("changed", "changed"))
    rules = [("", "all rules"), *((each.rule.code, each.rule.code) for each in counts)]
    yield '<form id="filter" hidden>'
    yield '<input name="words" type="search" placeholder="Search paths and findings" '
    yield 'aria-label="Search paths and findings">'
    yield from _choice("kind", "Kind", (*kinds, ("failed", "failed")))
    yield from _choice("rule", "Rule", rules)
    yield '<output name="count"></output>\n</form>\n<a id="files"></a>'


def _choice(name: str, label: str, options: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield f'<select name="{name}" aria-label="{label}">'
    yield from (f'<option value="{_text(key)}">{_text(text)}</option>' for key, text in options)
    yield "</select>"


# -- files --------------------------------------------------------------------------------------


def _file(run: Run, result: FileResult, number: int, count: int) -> Iterator[str]:
    path = _text(run.shown_path(result.path))
    rows = changed_rows(result)
    lines = {row.old for row in rows if row.old}
    is_open = " open" if count <= _MOST_OPEN else ""
    yield f'<details class="file" id="f{number}" data-path="{path}"{is_open}>'
    yield f'<summary><span class="code">{path}</span>{_badges(result)}</summary>'
    yield '<ul class="findings">'
    if result.error:
        yield f'<li class="is-failed" data-kind="failed" data-rule="">{_prose(result.error)}</li>'
    for each in result.findings:
        yield _finding(each, number, lines)
    yield "</ul>"
    if rows:
        opened = {each.line for each in result.findings if each.kind == DECIDE and not each.part}
        yield '<table class="diff code">'
        yield from (_row(row, number, opened) for row in rows)
        yield "</table>"
    yield "</details>"


def _badges(result: FileResult) -> str:
    decide = sum(each.kind == DECIDE for each in result.findings)
    badges = (
        ("changed", len(result.findings) - decide, "changed"),
        ("decide", decide, "to decide"),
        ("failed", int(bool(result.error)), "failed"),
    )
    return "".join(
        f'<span class="{kind}">{count:,} {what}</span>' for kind, count, what in badges if count
    )


def _finding(finding: Finding, number: int, lines: set[int]) -> str:
    place = place_of(finding)
    if not finding.part and finding.line in lines:
        place = f'<a href="#f{number}-L{finding.line}">{place}</a>'
    code = _text(finding.code)
    after = f" → <code>{_text(finding.after)}</code>" if finding.after else ""
    spelling = (
        f'<span class="spelling"><code>{_text(finding.before)}</code>{after}</span>'
        if finding.before
        else ""
    )
    label = "to decide" if finding.kind == DECIDE else "changed"
    return (
        f'<li class="is-{finding.kind}" data-kind="{finding.kind}" data-rule="{code}">'
        f'<b class="{finding.kind}">{code} {label}</b>, {place}: '
        f"{_prose(finding.message)}{spelling}</li>"
    )


def _row(row: Row, number: int, opened: set[int]) -> str:
    if row.kind == "gap":
        return '<tr class="gap"><td colspan="4">⋯</td></tr>'
    anchor = f' id="f{number}-L{row.old}"' if row.old else ""
    kind = "open" if row.kind == "same" and row.old in opened else row.kind
    line = "".join(
        f"<mark>{escape(text)}</mark>" if is_marked else escape(text)
        for text, is_marked in row.pieces
    )
    return (
        f'<tr class="{kind}"{anchor}><td class="number">{row.old or ""}</td>'
        f'<td class="number">{row.new or ""}</td>'
        f'<td class="sign">{_SIGNS.get(row.kind, "")}</td><td>{line}</td></tr>'
    )


# -- text ---------------------------------------------------------------------------------------


def _text(text: str) -> str:
    return escape(shown(text))


def _prose(markdown: str) -> str:
    """Return a line of Markdown, of which only code in backticks is markup here."""
    return _CODE.sub(r"<code>\1</code>", _text(markdown))


def _part(name: str) -> str:
    return resources.files(__package__ or __name__).joinpath(name).read_text(encoding="utf-8")
