"""Runs ``typed-nnx migrate --linen`` as users run it, on projects of a few lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner, Result

from typed_nnx_codegen.commands import typed_nnx
from typed_nnx_codegen.migrate.linen.migration import LinenResult, migrate_linen
from typed_nnx_codegen.migrate.options import Options


def run(*arguments: str | Path) -> Result:
    """Run ``typed-nnx migrate --linen``; a traceback fails the test."""
    given = [str(one) for one in arguments]
    result = CliRunner().invoke(typed_nnx, ["migrate", "--linen", *given])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def written(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of a project."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def migrated(path: Path, text: str, *, gradual: bool = False) -> LinenResult:
    """Write one file and return its migration."""
    path.write_text(text, encoding="utf-8")
    (result,) = migrate_linen([path], [path], Options(), gradual=gradual)
    compile(result.after, str(path), "exec")
    return result


def messages(result: LinenResult) -> list[str]:
    """Return what the markers of a file say, and why classes stay in Linen."""
    marks = [mark.message for plan in result.plans for mark in plan.marks]
    return marks + [plan.stays for plan in result.plans if plan.stays]
