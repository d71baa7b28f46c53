"""Marks of expected errors in case files, compared with what the checkers report."""

from __future__ import annotations

import io
import re
import tokenize
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.type_checkers import CHECKERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.support.type_checkers import Finding

START = re.compile(r"# ?E(?![\w'])")
MARK = re.compile(
    r"# E"
    r"(?: (?P<checker>mypy|pyright): (?P<reason>\S.*)"
    r"|: \[(?P<mypy>[a-z-]+)\|(?P<pyright>report\w+)\])?"
)


class BadMark(ValueError):
    """A comment looks like a mark and is none."""

    def __init__(self, line: int, comment: str) -> None:
        super().__init__(
            f"line {line}: {comment!r} is no mark of an expected error.\n"
            "  Fix: write `# E`, `# E: [mypy-code|pyright-rule]`, `# E mypy: reason` or "
            "`# E pyright: reason`."
        )


@dataclass(frozen=True)
class Mark:
    """Says which checkers report an error on a line.

    Attributes:
        codes: The code of each checker that reports; "" stands for any code.
    """

    line: int
    codes: Mapping[str, str]


def marks_of(source: str) -> list[Mark]:
    """Return the marks of a case file.

    Raises:
        BadMark: A comment begins as a mark does and does not go on so.
    """
    marks = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and START.match(token.string):
            marks.append(_mark(token.start[0], token.string))
    return marks


def _mark(line: int, comment: str) -> Mark:
    found = MARK.fullmatch(comment)
    if found is None:
        raise BadMark(line, comment)
    if found["checker"]:
        return Mark(line, {found["checker"]: ""})
    return Mark(line, {checker: found[checker] or "" for checker in CHECKERS})


def complaints(checker: str, source: str, findings: Iterable[Finding]) -> list[str]:
    """Return where the errors of a checker in one file are not what the marks say.

    Args:
        checker: The name of the checker.
        source: The text of the file.
        findings: What the checker reports of the file.
    """
    expected = {m.line: m.codes[checker] for m in marks_of(source) if checker in m.codes}
    reported = defaultdict(list)
    for finding in findings:
        reported[finding.line].append(finding)
    found = []
    for line in sorted(expected.keys() | reported.keys()):
        errors = reported[line]
        shown = "; ".join(f"{one.message} [{one.code}]" for one in errors)
        if line not in expected:
            found.append(f"line {line}: {checker} reports an error that is not marked: {shown}")
        elif not errors:
            found.append(f"line {line}: {checker} reports nothing, though the line is marked")
        elif expected[line] not in ("", *(one.code for one in errors)):
            found.append(f"line {line}: {checker} reports not [{expected[line]}] but: {shown}")
    return found
