"""A migration with two rules that need no analysis, for tests of what is around the rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from typed_nnx_codegen.migrate import command, session
from typed_nnx_codegen.migrate.findings import FileResult, Finding
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.rule_info import RuleInfo

RENAME = RuleInfo(
    code="TN103",
    title="`nnx.VariableState` is `nnx.Variable`",
    since=(0, 11, 0),
    example="- nnx.VariableState\n+ nnx.Variable\n",
    explanation="One class has the work of both.",
)
CONTAINER = RuleInfo("TN110", "A `list | dict` | tuple is marked", since=(0, 12, 0))
RULES = (RENAME, CONTAINER)
MARKER = b"# TODO[typed-nnx] TN110: what it holds"
WHY = "what `{}` holds: <it> is made elsewhere"


def migrate_bytes(path: Path, data: bytes, options: Options) -> FileResult:
    """Rename ``VariableState``, put a marker above each ``LIST``, fail at ``BROKEN``."""
    if b"BROKEN" in data:
        return FileResult(path, data, data, error="line 1: it does not parse")
    lines: list[bytes] = []
    findings = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        text = line.decode("utf-8", errors="replace")
        if b"VariableState" in line and options.applies("TN103"):
            new = text.replace("VariableState", "Variable").strip()
            column = text.index("VariableState")
            findings.append(
                Finding(number, column, "TN103", "changed", RENAME.title, text.strip(), new)
            )
            line = line.replace(b"VariableState", b"Variable")
        if b"LIST" in line and options.applies("TN110"):
            why = WHY.format(text.split()[0])
            findings.append(Finding(number, 0, "TN110", "decide", why, text.strip()))
            if lines[-1:] != [MARKER]:
                lines.append(MARKER)
        lines.append(line)
    return FileResult(path, data, b"\n".join(lines), tuple(findings))


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command use this migration, in its own process."""

    def migrate_all(
        files: Sequence[Path],
        roots: Sequence[Path],
        options: Options,
        jobs: int,
        on_result: Callable[[FileResult], None],
    ) -> list[FileResult]:
        del roots, jobs
        results = [migrate_bytes(path, path.read_bytes(), options) for path in files]
        for result in results:
            on_result(result)
        return results

    monkeypatch.setattr(session, "migrate_all", migrate_all)
    monkeypatch.setattr(command, "known_rules", lambda: RULES)
