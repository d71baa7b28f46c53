"""Jupyter notebooks: the code of their cells is one program; all else in them stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator
from typing import Final

from typed_nnx_codegen.migrate.sources.encoding import decode_utf8
from typed_nnx_codegen.migrate.sources.frames import code_of, frame_module, reframe
from typed_nnx_codegen.migrate.sources.notebook_text import Cell, elements, read_notebook
from typed_nnx_codegen.migrate.sources.outcome import Outcome, SourceError, TextMigration
from typed_nnx_codegen.migrate.sources.parts import Part, migrate_parts

_PYTHON: Final = re.compile(r"i?python", re.IGNORECASE)
_ESCAPED: Final = re.compile(r"\\u(?:00[89a-fA-F]|0[1-9a-fA-F]|[1-9a-fA-F])")


def migrate_notebook(data: bytes, migrate: TextMigration) -> Outcome:
    """Migrate the code cells of a notebook.

    Raises:
        SourceError: It is no notebook, or cannot be put together again.
    """
    source = decode_utf8(data)
    notebook = read_notebook(source.text)
    if notebook.language and not _PYTHON.search(notebook.language):
        return Outcome(data, skipped=f"a notebook of {notebook.language}")
    cells = [cell for cell in notebook.cells if not cell.language or _PYTHON.search(cell.language)]
    framed = [frame_module(cell.code) for cell in cells]
    parts = [Part(cell.number, code_of(f)) for cell, f in zip(cells, framed, strict=True)]
    codes, findings = migrate_parts(parts, migrate)
    new: list[str] = []
    done = 0
    for cell, lines, part, code in zip(cells, framed, parts, codes, strict=True):
        if code != part.code:
            new.append(source.text[done : cell.source.start])
            new.append(_literal(source.text, cell, reframe(lines, code)))
            done = cell.source.stop
    if not new:
        return Outcome(data, findings)
    text = "".join([*new, source.text[done:]])
    return Outcome(source.encode(_checked(text, len(notebook.cells))), findings)


def _checked(text: str, expected: int) -> str:
    """Return the new text of a notebook, which must be one with as many cells."""
    if len(read_notebook(text).cells) != expected:
        raise SourceError("the new text is not the same notebook any more")
    return text


def _literal(text: str, cell: Cell, code: str) -> str:
    """Return the JSON of new code in the form that the cell has: a text, or a list of lines."""
    escape = text.isascii() and _ESCAPED.search(text) is not None
    if isinstance(cell.source.value, str):
        return json.dumps(code, ensure_ascii=escape)
    spans = list(elements(text, cell.source.start))
    if not spans:
        return json.dumps(code.splitlines(keepends=True), ensure_ascii=escape)
    known = {span.value: text[span.start : span.stop] for span in spans}
    literals = [
        known.get(line) or json.dumps(line, ensure_ascii=escape) for line in _lines(code, known)
    ]
    first, last = spans[0], spans[-1]
    opening = text[cell.source.start : first.start]
    between = text[first.stop : spans[1].start] if len(spans) > 1 else f",{opening[1:] or ' '}"
    return opening + between.join(literals) + text[last.stop : cell.source.stop]


def _lines(code: str, known: Container[object]) -> Iterator[str]:
    """Split code as the cell was, and where it changed, as Jupyter does: at more than line ends."""
    for line in re.findall(r"[^\n]*\n|[^\n]+", code):
        yield from [line] if line in known else line.splitlines(keepends=True)
