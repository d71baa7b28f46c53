"""Cells of a notebook, blocks of a document: many parts that the rules see as one program.

An import in the first part is known in the later ones. Calls of a name that nobody uses separate the
parts, so that the new text can be split again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from typed_nnx_codegen.migrate.findings import Finding
from typed_nnx_codegen.migrate.sources.magics import Protected, protect, split_cell_magics
from typed_nnx_codegen.migrate.sources.outcome import SourceError, TextMigration
from typed_nnx_codegen.migrate.syntax import TooDeepError, is_python


@dataclass(frozen=True)
class Part:
    """One part of a file.

    Attributes:
        number: The cell or block that it is, or is in, from 1.
        code: Its code; lines end with a line feed.
    """

    number: int
    code: str


@dataclass(frozen=True)
class _Prepared:
    """A part that is Python.

    Attributes:
        index: Which of the parts.
        magics: The lines of cell magics above the code.
        body: The code below them.
        text: The code as it is joined; it ends with a line end.
    """

    index: int
    magics: str
    body: Protected
    text: str


def migrate_parts(
    parts: Sequence[Part], migrate: TextMigration
) -> tuple[list[str], tuple[Finding, ...]]:
    """Migrate the parts that are Python as one program; return the code of all, and the findings.

    Raises:
        SourceError: The new text cannot be split into the parts any more.
    """
    codes = [part.code for part in parts]
    name = _unused_name(codes)
    prepared = [ready for i, code in enumerate(codes) if (ready := _prepare(i, code, name))]
    if not prepared:
        return codes, ()
    joined = "".join(f"{name}_part({i})\n" * (i > 0) + at.text for i, at in enumerate(prepared))
    migrated = migrate(joined)
    findings = _placed(migrated.findings, parts, prepared)
    if migrated.text != joined:
        for at, text in zip(prepared, _split(migrated.text, name, len(prepared)), strict=True):
            if text != at.text:
                codes[at.index] = _finished(at, text)
    return codes, findings


def _unused_name(codes: Sequence[str]) -> str:
    """Return the first part of names that no part has."""
    names = ("typed_nnx_ipython" + "_" * i for i in count())
    return next(name for name in names if not any(name in code for code in codes))


def _prepare(index: int, code: str, name: str) -> _Prepared | None:
    """Return a part as it is joined; None where it is not Python, and is left alone."""
    split = split_cell_magics(code)
    if split is None:
        return None
    magics, body = split
    try:
        ready = Protected(body, (), tuple(range(1, body.count("\n") + 2)), name)
        if not is_python(body):
            ready = protect(body, name)
            if not ready.magics or not is_python(ready.code):
                return None
    except (TooDeepError, RecursionError):
        return None
    text = ready.code if ready.code.endswith("\n") or not ready.code else f"{ready.code}\n"
    return _Prepared(index, magics, ready, text)


def _split(text: str, name: str, expected: int) -> list[str]:
    """Split the new text into its parts."""
    pieces = re.split(rf"^{name}_part\((\d+)\)\n", text, flags=re.MULTILINE)
    if pieces[1::2] != [str(i) for i in range(1, expected)]:
        raise SourceError("the new text cannot be split into its cells or blocks any more")
    return pieces[::2]


def _finished(part: _Prepared, text: str) -> str:
    """Return the new code of a part."""
    if not part.body.has_all(text):
        raise SourceError("a magic of a cell would be lost or would move")
    if not part.body.code.endswith("\n"):
        text = text.removesuffix("\n")
    return part.magics + part.body.restored(text)


def _placed(
    findings: Sequence[Finding], parts: Sequence[Part], prepared: Sequence[_Prepared]
) -> tuple[Finding, ...]:
    """Return findings with their part, and their line in it."""
    starts: list[int] = []
    line = 1
    for at in prepared:
        starts.append(line)
        line += at.text.count("\n") + 1
    placed: list[Finding] = []
    for finding in findings:
        which = max(bisect_right(starts, finding.line) - 1, 0)
        at, part = prepared[which], parts[prepared[which].index]
        row = min(max(finding.line - starts[which], 0), len(at.body.lines) - 1)
        within = at.magics.count("\n") + at.body.lines[row]
        placed.append(
            replace(
                finding,
                part=part.number,
                line=within,
                before=at.body.restored(finding.before),
                after=at.body.restored(finding.after),
            )
        )
    return tuple(placed)
