"""Comments of the codemod: ``# TODO[typed-nnx] TN102: ...``, and the user's ``typed-nnx: keep``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

import libcst as cst

_MARK: Final = "# TODO[typed-nnx] {code}: {message}"
_MARKED: Final = re.compile(r"#\s*TODO\[typed-nnx\] (?P<code>TN\d+):")
_KEEP: Final = re.compile(r"#.*\btyped-nnx: keep\b(?P<codes>[ ,TN\d]*)")
EVERY: Final = "*"
"""What `kept_codes` gives for a comment that names no rule."""


def comment(code: str, message: str) -> str:
    """Return the text of a marker, one line."""
    return _MARK.format(code=code, message=" ".join(message.split()))


def marked_codes(lines: Iterable[cst.EmptyLine]) -> frozenset[str]:
    """Return the rules that have a marker among the lines above a statement."""
    found = (_MARKED.match(line.comment.value) for line in lines if line.comment is not None)
    return frozenset(match["code"] for match in found if match is not None)


def with_marks(
    lines: Sequence[cst.EmptyLine], marks: Sequence[tuple[str, str]], elsewhere: frozenset[str]
) -> list[cst.EmptyLine]:
    """Return the lines above a statement with markers added that are not there yet.

    Args:
        lines: The lines.
        marks: The rules and what they say.
        elsewhere: The rules that have a marker above these lines.
    """
    there = {*marked_codes(lines), *elsewhere}
    added: list[cst.EmptyLine] = []
    for code, message in marks:
        if code not in there:
            there.add(code)
            added.append(cst.EmptyLine(comment=cst.Comment(comment(code, message))))
    return [*lines, *added]


def kept_codes(node: cst.CSTNode, above: Sequence[cst.EmptyLine] = ()) -> frozenset[str]:
    """Return the rules that a comment at a statement keeps away from it.

    Args:
        node: The statement.
        above: Lines above it that are not its own.
    """
    found: set[str] = set()
    lines = [line.comment.value for line in above if line.comment is not None]
    for text in (*lines, *_comments_at(node)):
        match = None if _MARKED.match(text) else _KEEP.search(text)
        if match is not None:
            found.update(re.findall(r"TN\d+", match["codes"]) or [EVERY])
    return frozenset(found)


def _comments_at(node: cst.CSTNode) -> Iterable[str]:
    for line in getattr(node, "leading_lines", ()):
        if line.comment is not None:
            yield line.comment.value
    ends = [getattr(node, "trailing_whitespace", None)]
    body = getattr(node, "body", None)
    if isinstance(body, cst.IndentedBlock):
        ends.append(body.header)
    for end in ends:
        if isinstance(end, cst.TrailingWhitespace) and end.comment is not None:
            yield end.comment.value
