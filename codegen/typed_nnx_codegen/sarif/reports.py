"""What ``mypy --output json`` writes: one report on each line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

SEVERITIES = ("error", "note")


class BadReport(ValueError):
    """A line is not what mypy writes. The message says which line and how to get the right form."""


@dataclass(frozen=True)
class Report:
    """A report of mypy.

    Attributes:
        file: The file, as mypy was given it or found it.
        line: From 1; mypy writes less where the report is about the whole file.
        column: From 0; -1 where there is none.
        end_line: Where it ends; the same as `line` where mypy does not say.
        end_column: The column after the last one, from 0; -1 where there is none.
        message: What is said.
        hint: More of it on further lines; empty where there is none.
        code: The error code; empty where there is none.
        severity: "error" or "note".
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    hint: str
    code: str
    severity: str


def read_reports(text: str) -> Iterator[Report]:
    """Yield the reports in the output of mypy.

    Raises:
        BadReport: A line is not a report.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield _report(line, number)


def _report(line: str, number: int) -> Report:
    try:
        found: object = json.loads(line)
    except json.JSONDecodeError:
        raise _bad(number, f"is not JSON: {_shown(line)}") from None
    if not isinstance(found, dict):
        raise _bad(number, f"is not a JSON object: {_shown(line)}")
    fields = cast("dict[str, object]", found)
    at = _number(fields, "line", number)
    severity = _text(fields, "severity", number)
    if severity not in SEVERITIES:
        raise _bad(number, f"has the severity {severity!r}, not one of {', '.join(SEVERITIES)}")
    return Report(
        file=_text(fields, "file", number),
        line=at,
        column=_number(fields, "column", number),
        end_line=_number(fields, "end_line", number, default=at),
        end_column=_number(fields, "end_column", number, default=-1),
        message=_text(fields, "message", number),
        hint=_text(fields, "hint", number, default=""),
        code=_text(fields, "code", number, default=""),
        severity=severity,
    )


def _text(fields: dict[str, object], name: str, number: int, default: str | None = None) -> str:
    value = fields.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise _bad(number, f"has no text for {name!r}")
    return value


def _number(fields: dict[str, object], name: str, number: int, default: int | None = None) -> int:
    value = fields.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, int):
        raise _bad(number, f"has no whole number for {name!r}")
    return value


def _bad(number: int, problem: str) -> BadReport:
    return BadReport(f"line {number} {problem}.\n  Fix: give it what `mypy --output json` writes")


def _shown(line: str) -> str:
    return repr(line if len(line) <= 60 else line[:57] + "...")
