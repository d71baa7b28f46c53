"""Reports of a migration: HTML, JSON, SARIF and Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from typed_nnx_codegen.migrate.findings import FileResult
from typed_nnx_codegen.migrate.report.as_html import html_report
from typed_nnx_codegen.migrate.report.as_json import json_report
from typed_nnx_codegen.migrate.report.as_markdown import markdown_report
from typed_nnx_codegen.migrate.report.as_sarif import sarif_report
from typed_nnx_codegen.migrate.report.run import Run

FORMS: Final[dict[str, Callable[[Run, Sequence[FileResult]], str]]] = {
    "html": html_report,
    "json": json_report,
    "sarif": sarif_report,
    "md": markdown_report,
}
