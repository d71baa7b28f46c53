"""Reports of mypy as a SARIF 2.1.0 log.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

from typed_nnx_codegen.sarif.reports import Report

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
# Code scanning takes URIs without it for files of the repository too; other readers need to know.
_ROOT = "%SRCROOT%"
_OUR_CODES = "nnx"
_WITHOUT_CODE = "mypy"
_MYPY_PAGE = "https://mypy.readthedocs.io/en/stable/_refs.html#code-"
# Bump when what goes into it changes: readers compare only fingerprints of one name.
_FINGERPRINT = "mypyReport/v1"


@dataclass(frozen=True)
class Project:
    """Where reports come from.

    Attributes:
        folder: Where mypy ran: relative paths in reports start here.
        root: The root of the repository: paths in the log start here.
        mypy_version: The version of mypy.
        descriptions: What each error code checks.
        docs: The address of docs/mypy-plugin.md as a web page; empty where there is none.
    """

    folder: Path
    root: Path
    mypy_version: str
    descriptions: Mapping[str, str]
    docs: str = ""


def log_of(reports: Iterable[Report], project: Project) -> dict[str, object]:
    """Return a SARIF log, as JSON has it."""
    # mypy repeats nothing, but a caller may join the output of several runs.
    found = list(dict.fromkeys(reports))
    rules = sorted({_rule_id(report) for report in found})
    driver = {
        "name": "mypy",
        "informationUri": "https://mypy-lang.org",
        "version": project.mypy_version,
        "rules": [_rule(code, project) for code in rules],
    }
    seen: Counter[str] = Counter()
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"uri": _folder_uri(project.root)}},
        "results": [_result(report, rules, project, seen) for report in found],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


# -- rules --------------------------------------------------------------------------------------


def _rule_id(report: Report) -> str:
    return report.code or _WITHOUT_CODE


def _is_ours(code: str) -> bool:
    return code == _OUR_CODES or code.startswith(f"{_OUR_CODES}-")


def _rule(code: str, project: Project) -> dict[str, object]:
    text = project.descriptions.get(code, f"mypy: {code}")
    rule: dict[str, object] = {
        "id": code,
        "name": "".join(word.capitalize() for word in code.split("-")),
        "shortDescription": {"text": text},
        "defaultConfiguration": {"level": "error"},
    }
    if _is_ours(code):
        rule["help"] = {
            "text": f"{text}. The page of the mypy plugin of typed-nnx says why, and how to fix it."
        }
        if project.docs:
            rule["helpUri"] = f"{project.docs}#{code}"
    elif code != _WITHOUT_CODE:
        rule["help"] = {"text": f"{text}. The documentation of mypy has an example."}
        rule["helpUri"] = f"{_MYPY_PAGE}{code}"
    rule["properties"] = {"tags": ["typed-nnx" if _is_ours(code) else "mypy"]}
    return rule


# -- results ------------------------------------------------------------------------------------


def _result(
    report: Report, rules: list[str], project: Project, seen: Counter[str]
) -> dict[str, object]:
    rule = _rule_id(report)
    path = (project.folder / report.file).resolve()
    location = {"artifactLocation": _artifact(path, project.root), **_region(report, path)}
    return {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": report.severity,
        "message": {"text": "\n".join(filter(None, (report.message, report.hint)))},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {_FINGERPRINT: _fingerprint(report, path, project.root, seen)},
    }


def _artifact(path: Path, root: Path) -> dict[str, object]:
    if path.is_relative_to(root):
        return {"uri": quote(path.relative_to(root).as_posix()), "uriBaseId": _ROOT}
    return {"uri": path.as_uri()}


def _folder_uri(path: Path) -> str:
    return path.as_uri().rstrip("/") + "/"


def _region(report: Report, path: Path) -> dict[str, object]:
    if report.line < 1:
        return {}
    region: dict[str, object] = {"startLine": report.line}
    # The parsers of mypy count columns differently where a line is not ASCII: the line is enough.
    if report.column >= 0 and _line(path, report.line).isascii():
        region["startColumn"] = report.column + 1
        end = (report.end_line, report.end_column)
        if end > (report.line, report.column) and _line(path, report.end_line).isascii():
            region["endLine"] = report.end_line
            region["endColumn"] = report.end_column + 1
    return {"region": region}


def _fingerprint(report: Report, path: Path, root: Path, seen: Counter[str]) -> str:
    """Return what stays the same when lines above the report come and go."""
    place = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
    text = _line(path, report.line).strip() or str(report.line)
    key = "\0".join((_rule_id(report), place, report.message, text))
    seen[key] += 1
    return hashlib.sha256(f"{key}\0{seen[key]}".encode()).hexdigest()


def _line(path: Path, number: int) -> str:
    lines = _lines(path)
    return lines[number - 1] if 1 <= number <= len(lines) else ""


@cache
def _lines(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        return ()
