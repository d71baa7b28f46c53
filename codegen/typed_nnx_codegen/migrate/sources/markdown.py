"""Markdown: fenced blocks, also in lists and quotes; directives of MyST, chunks of Quarto."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from typed_nnx_codegen.migrate.sources.documents import Block, migrate_document
from typed_nnx_codegen.migrate.sources.frames import Line
from typed_nnx_codegen.migrate.sources.languages import (
    CODE_DIRECTIVES,
    PYTHON_DIRECTIVES,
    PYTHON_NAMES,
    is_python_directive,
)
from typed_nnx_codegen.migrate.sources.outcome import Outcome, TextMigration

_FENCE: Final = re.compile(
    r"(?P<front>(?:[ \t]|>|(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<marks>`{3,}|~{3,})(?P<info>.*)"
)
_LIST_MARK: Final = re.compile(r"[-*+]|\d{1,9}[.)]")
_DIRECTIVE: Final = re.compile(r"\{([A-Za-z][\w:.-]*)\}\s*(.*)")
_LANGUAGE: Final = re.compile(r"\{?\s*\.?([\w+-]+)")
_OPTION: Final = re.compile(r":[\w-]+:")


@dataclass(frozen=True)
class _Fence:
    """The line that opens a block.

    Attributes:
        prefix: What the lines of the block have in front: indentation and quote marks.
        marks: The marks of the fence.
        info: What is behind them.
        is_item: Whether an item of a list begins in its line.
    """

    prefix: str
    marks: str
    info: str
    is_item: bool = False

    def is_closed_by(self, raw: str) -> bool:
        """Whether a line closes the block."""
        rest = raw.lstrip(" \t>").rstrip()
        return rest == self.marks[0] * len(rest) and len(rest) >= len(self.marks)

    def is_left_at(self, raw: str) -> bool:
        """Whether a line is out of the quote or item that the block is in, which ends it too."""
        code = raw.lstrip(" \t")
        if ">" in self.prefix:
            return not code.startswith(">")
        indentation = raw[: len(raw) - len(code)].expandtabs(4)
        return self.is_item and bool(code) and len(indentation) < len(self.prefix)

    @property
    def holds_text(self) -> bool:
        """Whether it holds Markdown: a directive such as ``{note}``, with blocks in it."""
        found = _DIRECTIVE.match(self.info)
        names = PYTHON_NAMES | PYTHON_DIRECTIVES | CODE_DIRECTIVES | {"eval-rst", "literalinclude"}
        return found is not None and found[1] not in names

    @property
    def is_python(self) -> bool:
        """Whether it holds Python."""
        found = _DIRECTIVE.match(self.info)
        if found and found[1] in PYTHON_DIRECTIVES | CODE_DIRECTIVES:
            return is_python_directive(found[1], found[2])
        named = _LANGUAGE.match(self.info)
        return named is not None and named[1].lower() in PYTHON_NAMES


def migrate_markdown(data: bytes, migrate: TextMigration) -> Outcome:
    """Migrate the Python blocks of a Markdown file.

    Raises:
        SourceError: It is no text in UTF-8, or cannot be put together again.
    """
    return migrate_document(data, migrate, find_blocks)


def find_blocks(rows: Sequence[tuple[str, str]]) -> list[Block]:
    """Return the Python blocks of a document."""
    blocks: list[Block] = []
    around: list[_Fence] = []
    index = 0
    while index < len(rows):
        raw = rows[index][0]
        index += 1
        if around and around[-1].is_closed_by(raw):
            around.pop()
            continue
        fence = _opened(raw)
        if fence is None:
            continue
        if fence.holds_text:
            around.append(fence)
            continue
        stop = index
        while stop < len(rows) and not fence.is_closed_by(rows[stop][0]):
            if fence.is_left_at(rows[stop][0]):
                break
            stop += 1
        if fence.is_python:
            blocks.append(_block(fence, rows, index, stop))
        is_closed = stop < len(rows) and fence.is_closed_by(rows[stop][0])
        index = stop + is_closed
    return [block for block in blocks if block.is_even]


def _opened(raw: str) -> _Fence | None:
    """Return the fence that a line opens a block with."""
    found = _FENCE.match(raw)
    # "```a```" is code within a line.
    if found is None or (found["marks"][0] == "`" and "`" in found["info"]):
        return None
    prefix = _LIST_MARK.sub(lambda mark: " " * len(mark.group()), found["front"])
    is_item = prefix != found["front"]
    return _Fence(prefix, found["marks"], found["info"].strip(), is_item)


def _block(fence: _Fence, rows: Sequence[tuple[str, str]], start: int, stop: int) -> Block:
    """Return the block between two fences, without the options of a directive."""
    lines = [_line(raw, end, fence.prefix) for raw, end in rows[start:stop]]
    if stop == len(rows) and lines and not lines[-1].raw:
        lines.pop()
    options = _options(lines) if fence.info.startswith("{") else 0
    return Block(start + options, tuple(lines[options:]), fence.prefix)


def _line(raw: str, end: str, prefix: str) -> Line:
    """Split a line of a block from what is in front of it, of which there may be less."""
    quotes = prefix.count(">")
    found = re.match(rf"(?:[ \t]*>){{0,{quotes}}}", raw) if quotes else None
    at = found.end() if found else 0
    limit = at + len(prefix) - (prefix.rindex(">") + 1 if quotes else 0)
    while at < min(limit, len(raw)) and raw[at] in " \t":
        at += 1
    return Line(raw[at:], raw[:at], end)


def _options(lines: Sequence[Line]) -> int:
    """Return how many lines at the top of a directive are its options."""
    codes = [line.code.rstrip() for line in lines]
    if codes and codes[0] == "---":
        return codes.index("---", 1) + 1 if "---" in codes[1:] else 0
    return next((i for i, code in enumerate(codes) if not _OPTION.match(code)), len(codes))
