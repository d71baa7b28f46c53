"""reStructuredText: directives with Python code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from typed_nnx_codegen.migrate.sources.documents import Block, migrate_document
from typed_nnx_codegen.migrate.sources.frames import Line
from typed_nnx_codegen.migrate.sources.languages import (
    CODE_DIRECTIVES,
    PYTHON_DIRECTIVES,
    is_python_directive,
)
from typed_nnx_codegen.migrate.sources.outcome import Outcome, TextMigration

_DIRECTIVE: Final = re.compile(r"(?P<indent>[ \t]*)\.\. (?P<name>[\w:-]+?):: ?(?P<argument>.*)")
_OPTION: Final = re.compile(r"[ \t]+:[\w-]+:(?:[ \t]|$)")
# Their content is neither text nor Python.
_OPAQUE: Final = frozenset(
    ["raw", "prompt", "math", "graphviz", "mermaid", "productionlist", "highlight"]
)


def migrate_rst(data: bytes, migrate: TextMigration) -> Outcome:
    """Migrate the Python blocks of a reStructuredText file.

    Raises:
        SourceError: It is no text in UTF-8, or cannot be put together again.
    """
    return migrate_document(data, migrate, find_blocks)


def find_blocks(rows: Sequence[tuple[str, str]]) -> list[Block]:
    """Return the Python blocks of a document."""
    blocks: list[Block] = []
    index = 0
    while index < len(rows):
        raw = rows[index][0]
        found = _DIRECTIVE.match(raw)
        if found and found["name"] in CODE_DIRECTIVES | PYTHON_DIRECTIVES | _OPAQUE:
            start, stop = _content(rows, index + 1, len(found["indent"]))
            if is_python_directive(found["name"], found["argument"]):
                blocks.append(_block(rows, start, stop))
            index = max(stop, index + 1)
        else:
            index += 1
    return [block for block in blocks if block.is_even]


def _content(rows: Sequence[tuple[str, str]], start: int, indent: int) -> tuple[int, int]:
    """Return where the content of a directive starts and stops, without its options."""
    while start < len(rows) and _OPTION.match(rows[start][0]):
        start += 1
    while start < len(rows) and not rows[start][0].strip():
        start += 1
    stop = last = start
    while stop < len(rows):
        raw = rows[stop][0]
        if raw.strip():
            if len(raw) - len(raw.lstrip(" \t")) <= indent:
                break
            last = stop + 1
        stop += 1
    return start, last


def _block(rows: Sequence[tuple[str, str]], start: int, stop: int) -> Block:
    """Return a block without the indentation that all of its lines have."""
    texts = [raw for raw, _ in rows[start:stop] if raw.strip()]
    fronts = [text[: len(text) - len(text.lstrip(" \t"))] for text in texts]
    prefix = min(fronts, key=len, default="")
    lines = tuple(_line(raw, end, prefix) for raw, end in rows[start:stop])
    return Block(start, lines, prefix)


def _line(raw: str, end: str, prefix: str) -> Line:
    """Split a line from its indentation; lines of spaces have less, or more."""
    if raw.startswith(prefix):
        return Line(raw[len(prefix) :], prefix, end)
    return Line(raw.lstrip(" \t"), raw[: len(raw) - len(raw.lstrip(" \t"))], end)
