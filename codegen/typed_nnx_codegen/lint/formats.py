"""What was found, as a person reads it, as JSON, as SARIF, as annotations of GitHub."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from typed_nnx_codegen.sarif.installed import project_here
from typed_nnx_codegen.sarif.log import log_of
from typed_nnx_codegen.sarif.reports import Report

_FIX: Final = " Fix: "


def message_and_fix(report: Report) -> tuple[str, str]:
    """Return what a report says and what to write; the second is empty where it does not say."""
    text = "\n".join(filter(None, (report.message, report.hint)))
    message, _, fix = text.partition(_FIX)
    return message, fix


def as_text(reports: Iterable[Report]) -> str:
    """Return a line for each report, and one below with what to write."""
    lines: list[str] = []
    for each in reports:
        message, fix = message_and_fix(each)
        place = f"{each.file}:{max(each.line, 1)}:{max(each.column, 0) + 1}"
        lines.append(f"{place}: {each.severity}: {message}  [{each.code}]")
        if fix:
            lines.append(f"  Fix: {fix}")
    return "".join(f"{line}\n" for line in lines)


def as_json(reports: Iterable[Report]) -> str:
    """Return a list of objects; lines and columns count from 1, the end is behind the last character."""
    found = []
    for each in reports:
        message, fix = message_and_fix(each)
        found.append(
            {
                "file": Path(each.file).as_posix(),
                "line": max(each.line, 1),
                "column": max(each.column, 0) + 1,
                "end_line": max(each.end_line, each.line, 1),
                "end_column": max(each.end_column, each.column, 0) + 1,
                "code": each.code,
                "severity": each.severity,
                "message": message,
                "fix": fix or None,
            }
        )
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def as_github(reports: Iterable[Report]) -> str:
    """Return the lines of which GitHub makes annotations in a workflow.

    Source: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
    """
    lines = []
    for each in reports:
        kind = "error" if each.severity == "error" else "notice"
        places: dict[str, object] = {
            "file": Path(each.file).as_posix(),
            "line": max(each.line, 1),
            "col": max(each.column, 0) + 1,
            "title": f"typed-nnx {each.code}",
        }
        where = ",".join(f"{key}={_property(str(value))}" for key, value in places.items())
        message, fix = message_and_fix(each)
        text = f"{message}\nFix: {fix}" if fix else message
        lines.append(f"::{kind} {where}::{_escaped(text)}\n")
    return "".join(lines)


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def as_sarif(reports: Iterable[Report], root: Path, docs: str) -> str:
    """Return a SARIF 2.1.0 log.

    Args:
        reports: What was found.
        root: Where paths in the log begin.
        docs: The address of docs/mypy-plugin.md as a web page; empty where there is none.
    """
    log = log_of(reports, project_here(root, docs), tool="typed-nnx lint")
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


FORMATS: Final[dict[str, Callable[[Iterable[Report]], str]]] = {
    "text": as_text,
    "json": as_json,
    "github": as_github,
}
