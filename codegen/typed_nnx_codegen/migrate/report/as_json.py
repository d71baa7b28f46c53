"""The report for programs: JSON in a form that stays, described by ``migration.schema.json``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from typed_nnx_codegen.migrate.findings import FileResult, Finding
from typed_nnx_codegen.migrate.report.run import Run, rule_counts, told, totals

# Raise it when a reader of the old form would misread the new one; new keys alone do not.
FORM_VERSION: Final = 1


def json_report(run: Run, results: Sequence[FileResult]) -> str:
    """Return the report as JSON."""
    report = {
        "form": "typed-nnx-migration",
        "version": FORM_VERSION,
        "tool": {"name": "typed-nnx", "version": run.tool_version},
        "target": run.target,
        "from": run.from_release or None,
        "written": run.written,
        "totals": asdict(totals(results)),
        "rules": [
            {
                "code": each.rule.code,
                "title": each.rule.title,
                "since": each.rule.release or None,
                "changed": each.changed,
                "decide": each.decide,
                "files": each.files,
            }
            for each in rule_counts(run, results)
        ],
        "files": [_file(run, result) for result in told(results)],
    }
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"


def _file(run: Run, result: FileResult) -> dict[str, object]:
    return {
        "path": run.shown_path(result.path),
        "is_changed": result.is_changed,
        "error": result.error or None,
        "findings": [_finding(each) for each in result.findings],
    }


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "kind": finding.kind,
        "part": finding.part or None,
        "line": finding.line,
        "column": finding.column + 1,
        "message": finding.message,
        "before": finding.before,
        "after": finding.after or None,
    }
