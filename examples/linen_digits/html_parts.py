"""Pieces of the report: texts of programs as HTML that fits a phone and a dark screen."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Protocol


class Reported(Protocol):
    """A report about a line of code."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def code(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def source(self) -> str: ...


def code_html(text: str) -> str:
    """Return a text in a fixed font, which scrolls by itself where it is too wide."""
    return f"<pre>{escape(text)}</pre>"


def _diff_line(line: str) -> str:
    kinds = {"---": "head", "+++": "head", "@@ ": "gap"}
    kind = kinds.get(line[:3]) or {"-": "old", "+": "new"}.get(line[:1], "")
    return f'<span class="line {kind}">{escape(line) or " "}</span>'


def diff_html(diff: str) -> str:
    """Return a unified diff with its lines in the colors of old and new."""
    return f'<pre class="diff">{"".join(map(_diff_line, diff.splitlines()))}</pre>'


def reports_html(reports: Iterable[Reported]) -> str:
    """Return reports below the lines that they are about."""
    parts = []
    for one in reports:
        problem, _, fix = one.text.partition(" Fix: ")
        said = f'<p><b class="failed">error:</b> {escape(problem)}</p>'
        if fix:
            said += f'<p><b class="good">Fix:</b> {escape(fix)}</p>'
        parts.append(
            f'<div class="card"><p class="quiet code">{escape(one.file)}:{one.line}'
            f" · {escape(one.code)}</p>{code_html(one.source)}{said}</div>"
        )
    return "".join(parts)


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts."""

    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(one)}</{tag}>" for one in cells) + "</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    return f'<div class="scroll"><table>{row(head, "th")}{body}</table></div>'


def picture_html(path: Path, words: str) -> str:
    """Return a PNG picture within the page; `words` say what is in it."""
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return f'<img alt="{escape(words)}" src="data:image/png;base64,{data}">'


def popup_html(code: str, rows: Iterable[tuple[str, str]], rest: str) -> str:
    """Return a line of code with the list of names and types that an editor opens at its end."""
    names = "".join(f"<li><b>{escape(name)}</b><i>{escape(kind)}</i></li>" for name, kind in rows)
    return (
        f'<div class="editor code"><p>{escape(code)}<span class="caret"></span></p>'
        f'<ul style="--at: {len(code)}ch">{names}<li class="quiet">{escape(rest)}</li></ul></div>'
    )
