"""The lines of a file around what changed and what is to decide, in rows for a page."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from typed_nnx_codegen.migrate.findings import FileResult
from typed_nnx_codegen.migrate.shown_text import shown_lines

_CONTEXT: Final = 2
_WORD: Final = re.compile(r"\w+|\s+|.")
# Below it two lines have so little in common that marks would only be noise.
_LEAST_ALIKE: Final = 0.4

Kind = Literal["same", "old", "new", "gap"]
# A piece of a line, and whether it is what changed in it.
Piece = tuple[str, bool]


@dataclass(frozen=True)
class Row:
    """A row of the page.

    Attributes:
        kind: What it shows: a line of both texts, of one, or that lines are left out.
        old: The number of the line before, from 1; 0 where it is not there.
        new: The number of the line after, from 1; 0 where it is not there.
        pieces: The line.
    """

    kind: Kind
    old: int = 0
    new: int = 0
    pieces: tuple[Piece, ...] = ()


def changed_rows(result: FileResult) -> list[Row]:
    """Return the lines that change or have a finding, with a few around them."""
    before = shown_lines(result.path, result.before)
    after = shown_lines(result.path, result.after)
    rows = list(_all_rows(before, after))
    named = {each.line for each in result.findings if not each.part}
    wanted = [at for at, row in enumerate(rows) if row.kind != "same" or row.old in named]
    return list(_with_gaps(rows, _around(wanted, len(rows))))


def _around(wanted: Iterable[int], count: int) -> set[int]:
    return {
        near
        for at in wanted
        for near in range(max(0, at - _CONTEXT), min(count, at + _CONTEXT + 1))
    }


def _with_gaps(rows: Sequence[Row], kept: set[int]) -> Iterator[Row]:
    last = -1
    for at in sorted(kept):
        if at != last + 1:
            yield Row("gap")
        yield rows[at]
        last = at
    if kept and last != len(rows) - 1:
        yield Row("gap")


def _all_rows(before: Sequence[str], after: Sequence[str]) -> Iterator[Row]:
    matcher = difflib.SequenceMatcher(None, before, after)
    for tag, old, old_end, new, new_end in matcher.get_opcodes():
        if tag == "equal":
            for at in range(old_end - old):
                yield Row("same", old + at + 1, new + at + 1, ((before[old + at], False),))
            continue
        pairs = _marked(before[old:old_end], after[new:new_end])
        yield from (Row("old", old + at + 1, 0, line) for at, line in enumerate(pairs[0]))
        yield from (Row("new", 0, new + at + 1, line) for at, line in enumerate(pairs[1]))


Marked = list[tuple[Piece, ...]]


def _marked(before: Sequence[str], after: Sequence[str]) -> tuple[Marked, Marked]:
    """Return the lines of a block with marks on what differs, line for line where that is clear."""
    if len(before) != len(after):
        return [((line, False),) for line in before], [((line, False),) for line in after]
    pairs = [_marked_pair(old, new) for old, new in zip(before, after, strict=True)]
    return [old for old, _ in pairs], [new for _, new in pairs]


def _marked_pair(before: str, after: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    old, new = _WORD.findall(before), _WORD.findall(after)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < _LEAST_ALIKE:
        return ((before, False),), ((after, False),)
    codes = matcher.get_opcodes()
    return (
        tuple(("".join(old[i:j]), tag != "equal") for tag, i, j, _, _ in codes if i != j),
        tuple(("".join(new[i:j]), tag != "equal") for tag, _, _, i, j in codes if i != j),
    )
