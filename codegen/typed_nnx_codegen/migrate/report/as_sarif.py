"""The report for code scanning: a SARIF 2.1.0 log.

A place that changes is a note, one that a person must decide is a warning. There are no ``fixes``:
a fix must be whole by itself, and a change often needs others, such as that of an import.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from typed_nnx_codegen.migrate.findings import DECIDE, FileResult, Finding
from typed_nnx_codegen.migrate.report.run import Run, place_of, rule_counts, told
from typed_nnx_codegen.migrate.rule_info import RuleInfo
from typed_nnx_codegen.migrate.shown_text import shown_lines
from typed_nnx_codegen.sarif.document import Fingerprints, artifact, document

# Bump when what goes into it changes: readers compare only fingerprints of one name.
_FINGERPRINT: Final = "typedNnxMigration/v1"


def sarif_report(run: Run, results: Sequence[FileResult]) -> str:
    """Return the report as SARIF."""
    return json.dumps(sarif_log(run, results), indent=2, ensure_ascii=False) + "\n"


def sarif_log(run: Run, results: Sequence[FileResult]) -> dict[str, object]:
    """Return the report as a SARIF log, as JSON has it; paths begin at the folder of the run."""
    rules = [each.rule for each in rule_counts(run, results)]
    driver: dict[str, object] = {
        "name": "typed-nnx",
        "version": run.tool_version,
        "rules": [_rule(rule) for rule in rules],
    }
    codes = [rule.code for rule in rules]
    prints = Fingerprints(_FINGERPRINT)
    found = [
        each for result in told(results) for each in _results_of_file(run, result, codes, prints)
    ]
    failures = [_failure(run, result) for result in told(results) if result.error]
    invocation = {"executionSuccessful": True, "toolExecutionNotifications": failures}
    return document(driver, run.folder.resolve(), found, invocations=[invocation])


def _rule(rule: RuleInfo) -> dict[str, object]:
    text = rule.explanation or rule.title
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.title},
        "help": {"text": text, "markdown": rule.as_markdown or rule.title},
        "defaultConfiguration": {"level": "note"},
        "properties": {"tags": ["typed-nnx", "migration"]},
    }


def _results_of_file(
    run: Run, result: FileResult, codes: list[str], prints: Fingerprints
) -> list[dict[str, object]]:
    path, root = result.path.resolve(), run.folder.resolve()
    lines = shown_lines(result.path, result.before) if result.findings else []
    return [
        {
            "ruleId": each.code,
            "ruleIndex": codes.index(each.code),
            "level": "warning" if each.kind == DECIDE else "note",
            "message": {"text": _message(each)},
            "locations": [
                {"physicalLocation": {"artifactLocation": artifact(path, root), **_region(each)}}
            ],
            "partialFingerprints": prints.of(
                each.code, path, root, each.message, _line(each, lines)
            ),
            "properties": {"before": each.before, "after": each.after},
        }
        for each in result.findings
    ]


def _message(finding: Finding) -> str:
    return f"{place_of(finding)}: {finding.message}" if finding.part else finding.message


def _region(finding: Finding) -> dict[str, object]:
    # The line of a cell is no line of its file.
    if finding.part:
        return {}
    return {"region": {"startLine": finding.line, "startColumn": finding.column + 1}}


def _line(finding: Finding, lines: Sequence[str]) -> str:
    if finding.part or finding.line > len(lines):
        return finding.before
    return lines[finding.line - 1].strip()


def _failure(run: Run, result: FileResult) -> dict[str, object]:
    place = artifact(result.path.resolve(), run.folder.resolve())
    return {
        "level": "error",
        "message": {"text": result.error},
        "locations": [{"physicalLocation": {"artifactLocation": place}}],
    }
