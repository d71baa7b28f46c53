"""A printed table taken apart again."""

from __future__ import annotations

import io
import re
from typing import NamedTuple


class Terminal(io.StringIO):
    """A standard output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Parsed(NamedTuple):
    """What a table says, whatever it looks like.

    Attributes:
        title: The line above it.
        columns: The names of its columns.
        rows: The cells of each row; the lines of a cell are joined by ``|``.
        total: The cells of the last row.
        caption: The line below it.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    total: tuple[str, ...]
    caption: str

    def column(self, name: str) -> list[str]:
        """Return the cells of one column, without the total."""
        number = self.columns.index(name)
        return [row[number] for row in self.rows]


def parse(text: str) -> Parsed:
    """Take a table without colours apart."""
    assert "\x1b" not in text
    blocks: list[list[list[str]]] = [[]]
    around = []
    for line in text.splitlines():
        if line.startswith(("│", "┃")):
            blocks[-1].append([cell[1:].rstrip() for cell in re.split("[│┃]", line)[1:-1]])
        elif line[:1] in ("├", "┡", "└"):
            blocks.append([])
        elif line[:1] != "┏" and line.strip():
            around.append(line.strip())
    rows = [tuple("|".join(lines) for lines in zip(*b, strict=True)) for b in blocks if b]
    cells = [tuple(map(_without_empty_lines, row)) for row in rows]
    total = tuple(cell.strip() for cell in cells[-1])
    return Parsed(around[0], cells[0], cells[1:-1], total, around[-1])


def _without_empty_lines(cell: str) -> str:
    # A cell is as high as the highest of its row; a number may have separators.
    stripped = re.sub(r"\|+$", "", cell)
    return stripped.replace(",", "") if re.fullmatch(r"[\d,]+", stripped) else stripped
