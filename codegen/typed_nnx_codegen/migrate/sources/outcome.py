"""What the migration of the source of one file takes and gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from typed_nnx_codegen.migrate.findings import Finding, Migrated

# Migrates one text, whose lines end with "\n".
TextMigration = Callable[[str], Migrated]


class SourceError(Exception):
    """A file is not what its name says, or cannot be put together again; the message says why."""


class NotPython(SourceError):
    """A file, or code in it, is not valid Python; the message says in which line, and why."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"it is not valid Python: {problem}")


@dataclass(frozen=True)
class Outcome:
    """The migrated bytes of one file.

    Attributes:
        data: The new bytes; the same object as the old ones where nothing changed.
        findings: What was found.
        skipped: Why the file was not looked at; empty where it was.
    """

    data: bytes
    findings: tuple[Finding, ...] = ()
    skipped: str = ""
