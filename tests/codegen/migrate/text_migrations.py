"""Simple migrations of text, which stand for the rules in tests of what is around them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from typed_nnx_codegen.migrate.findings import CHANGED, FileResult, Finding, Migrated
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.project import Project


def rename_old(text: str) -> Migrated:
    """Turn ``old`` into ``new``, and put a marker above each line of it."""
    lines: list[str] = []
    findings: list[Finding] = []
    for number, line in enumerate(text.split("\n"), 1):
        if "old" in line:
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(f"{indent}# marker")
            findings.append(
                Finding(number, line.index("old"), "TN101", CHANGED, "renamed", line.strip())
            )
        lines.append(line.replace("old", "new"))
    return Migrated("\n".join(lines) if findings else text, tuple(findings))


def add_import(text: str) -> Migrated:
    """Put an import below the first one."""
    return Migrated(text.replace("import jax\n", "import jax\nimport nnx\n", 1))


def lose_process(path: Path, project: Project, options: Options) -> FileResult:
    """End the process at files that are named so."""
    del project, options
    if "killer" in path.name:
        os.kill(os.getpid(), signal.SIGKILL)
    return FileResult(path, path.name.encode())


def sleep(path: Path, project: Project, options: Options) -> None:
    """Tell that a process is at work, and work for long."""
    del project, options
    path.touch()
    time.sleep(30)
