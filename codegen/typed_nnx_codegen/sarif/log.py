"""Reports of mypy as a SARIF 2.1.0 log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from typed_nnx_codegen.sarif.document import Fingerprints, artifact, document
from typed_nnx_codegen.sarif.reports import Report

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


def log_of(reports: Iterable[Report], project: Project, tool: str = "mypy") -> dict[str, object]:
    """Return a SARIF log, as JSON has it.

    Args:
        reports: What was found.
        project: Where it was found.
        tool: Whose name the log has.
    """
    # mypy repeats nothing, but a caller may join the output of several runs.
    found = list(dict.fromkeys(reports))
    rules = sorted({_rule_id(report) for report in found})
    driver: dict[str, object] = {
        "name": tool,
        "informationUri": "https://mypy-lang.org",
        "version": project.mypy_version,
        "rules": [_rule(code, project) for code in rules],
    }
    prints = Fingerprints(_FINGERPRINT)
    results = [_result(report, rules, project, prints) for report in found]
    return document(driver, project.root, results)


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
    report: Report, rules: list[str], project: Project, prints: Fingerprints
) -> dict[str, object]:
    rule = _rule_id(report)
    path = (project.folder / report.file).resolve()
    location = {"artifactLocation": artifact(path, project.root), **_region(report, path)}
    return {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": report.severity,
        "message": {"text": "\n".join(filter(None, (report.message, report.hint)))},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": prints.of(
            rule, path, project.root, report.message, _line_text(report, path)
        ),
    }


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


def _line_text(report: Report, path: Path) -> str:
    return _line(path, report.line).strip() or str(report.line)


def _line(path: Path, number: int) -> str:
    lines = _lines(path)
    return lines[number - 1] if 1 <= number <= len(lines) else ""


@cache
def _lines(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        return ()
