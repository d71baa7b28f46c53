"""What the migration of one file gives: the new text, and a finding for each place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

CHANGED: Final = "changed"
DECIDE: Final = "decide"


@dataclass(frozen=True, order=True)
class Finding:
    """One place that a rule changed, or that it leaves to a person.

    Attributes:
        line: The line of the place in the text before, from 1.
        column: The column, from 0.
        code: The rule, ``TN102``.
        kind: ``changed``, or ``decide`` where the code stays and a marker is put above it.
        message: What was changed; or what is to decide, and why the rule does not.
        before: The code of the place before, one line.
        after: The code of the place after; empty for ``decide``.
        part: The cell of a notebook or the block of a document, from 1; 0 in Python files. Lines
            count within it.
    """

    line: int
    column: int
    code: str
    kind: Literal["changed", "decide"]
    message: str
    before: str = ""
    after: str = ""
    part: int = 0


@dataclass(frozen=True)
class Migrated:
    """The migration of one text.

    Attributes:
        text: The new text; the same object as the old one where nothing changed.
        findings: What was found, by line.
    """

    text: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class FileResult:
    """The migration of one file.

    Attributes:
        path: The file.
        before: Its bytes.
        after: Its new bytes; equal to ``before`` where nothing changed.
        findings: What was found, by line.
        error: Why the file, or a part of it, was left as it is; empty where it was migrated.
        skipped: Why it was not looked at (``generated``, ``no NNX``); empty where it was.
        is_python: False where it was left because it is not valid Python.
    """

    path: Path
    before: bytes = b""
    after: bytes = b""
    findings: tuple[Finding, ...] = field(default_factory=tuple)
    error: str = ""
    skipped: str = ""
    is_python: bool = True

    @property
    def is_changed(self) -> bool:
        """Whether writing would change the file."""
        return self.after != self.before

    def failed(self, error: str) -> FileResult:
        """Return the result of a file that stays as it is, with the reason."""
        return replace(self, after=self.before, findings=(), error=error)
