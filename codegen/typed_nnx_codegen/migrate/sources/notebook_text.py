"""Where the code of the cells stands in the text of a notebook.

Only these places of the text are ever written, so that all others stay as they are: indentation,
the order of keys, outputs, the way characters are escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, cast

from typed_nnx_codegen.migrate.sources.outcome import SourceError

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True)
class Span:
    """A value of JSON, and where it stands in the text."""

    start: int
    stop: int
    value: object


@dataclass(frozen=True)
class Cell:
    """A code cell.

    Attributes:
        number: Its number among all cells, from 1.
        source: Its code: a text, or a list of texts.
        language: The language that it has for itself; empty where it has that of the notebook.
    """

    number: int
    source: Span
    language: str

    @property
    def code(self) -> str:
        """Its code."""
        value = self.source.value
        return value if isinstance(value, str) else "".join(cast("list[str]", value))


@dataclass(frozen=True)
class Notebook:
    """A notebook.

    Attributes:
        text: Its text.
        cells: Its code cells.
        language: The language of the cells.
    """

    text: str
    cells: tuple[Cell, ...]
    language: str


def read_notebook(text: str) -> Notebook:
    """Find the code cells of a notebook of format 3 or 4.

    Raises:
        SourceError: The text is no notebook.
    """
    try:
        top = _members(text, _space(text, 0))
        whole = json.loads(text)
    except ValueError as error:
        raise SourceError(f"it is not a notebook: it is not valid JSON: {error}") from error
    sheets = [top] if "cells" in top else _worksheets(text, top)
    spans = [cell for sheet in sheets for cell in _elements_of(text, sheet, "cells")]
    cells = (_cell(text, span, number) for number, span in enumerate(spans, 1))
    return Notebook(text, tuple(cell for cell in cells if cell), _language(whole))


def _worksheets(text: str, top: Mapping[str, Span]) -> list[Mapping[str, Span]]:
    """Return the members of each sheet; notebooks of format 3 have them."""
    return [_members(text, sheet.start) for sheet in _elements_of(text, top, "worksheets")]


def _elements_of(text: str, members: Mapping[str, Span], key: str) -> list[Span]:
    """Return the elements of a member that must be a list of objects."""
    found = members.get(key)
    if found is None:
        return []
    if not isinstance(found.value, list) or not all(isinstance(x, dict) for x in found.value):
        raise SourceError(f"it is not a notebook: its {key!r} is not a list of objects")
    return list(elements(text, found.start))


def _cell(text: str, span: Span, number: int) -> Cell | None:
    """Return a code cell; None where it is of another type or has no code."""
    value = cast("dict[str, object]", span.value)
    if value.get("cell_type") != "code":
        return None
    members = _members(text, span.start)
    source = members.get("source") or members.get("input")
    if source is None:
        return None
    parts = source.value if isinstance(source.value, list) else [source.value]
    if not all(isinstance(part, str) for part in parts):
        return None
    named = value.get("language") or _at(value, "metadata", "vscode", "languageId")
    return Cell(number, source, named if isinstance(named, str) else "")


def _language(notebook: object) -> str:
    """Return the language that the metadata of a notebook name; empty where they do not."""
    for path in (("language_info", "name"), ("kernelspec", "language"), ("kernelspec", "name")):
        found = _at(notebook, "metadata", *path)
        if isinstance(found, str) and found:
            return found
    return ""


def _at(value: object, *path: str) -> object:
    """Return what is at a path of keys; None where there is nothing."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def elements(text: str, start: int) -> Iterator[Span]:
    """Yield the elements of the list at a position."""
    yield from (span for span, _ in _inside(text, start, "]", _value))


def _members(text: str, start: int) -> dict[str, Span]:
    """Return the members of the object at a position."""
    if text[start : start + 1] != "{":
        raise SourceError("it is not a notebook: an object is missing")
    return {key: span for span, key in _inside(text, start, "}", _member)}


def _inside(
    text: str, start: int, close: str, read: Callable[[str, int], tuple[Span, str]]
) -> Iterator[tuple[Span, str]]:
    """Yield what is in brackets; the text is known to be valid by then, or is found not to be."""
    at = _space(text, start + 1)
    while text[at : at + 1] != close:
        item = read(text, at)
        yield item
        at = _space(text, item[0].stop)
        if text[at : at + 1] == ",":
            at = _space(text, at + 1)
        elif text[at : at + 1] != close:
            raise ValueError(f"a comma is missing at character {at}")


def _member(text: str, at: int) -> tuple[Span, str]:
    """Read ``"key": value``."""
    key, after = _DECODER.raw_decode(text, at)
    value, _ = _value(text, _space(text, _space(text, after) + 1))
    return value, str(key)


def _value(text: str, at: int) -> tuple[Span, str]:
    """Read a value."""
    value, stop = _DECODER.raw_decode(text, at)
    return Span(at, stop, value), ""


def _space(text: str, at: int) -> int:
    """Return the position behind white space."""
    found = _SPACE.match(text, at)
    return found.end() if found else at
