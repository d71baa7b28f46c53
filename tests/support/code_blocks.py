"""The code blocks of Markdown documents: found, run, and compared with what they should print."""

from __future__ import annotations

import contextlib
import io
import re
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """A code block: its source, the line where it starts, and what it must print, if stated."""

    source: str
    line: int
    prints: str | None


class Printed(NamedTuple):
    """What a block printed, and where it stands as ``file:line``."""

    place: str
    expected: str
    found: str


def blocks_of(document: str) -> list[Block]:
    """Return the ``python`` blocks; a ``text`` block directly below says what one prints."""
    fenced = list(FENCED.finditer(document))
    blocks = []
    for found, follower in zip_longest(fenced, fenced[1:]):
        if found[1] != "python":
            continue
        directly = follower is not None and not document[found.end() : follower.start()].strip()
        prints = (
            follower[2] if follower is not None and directly and follower[1] == "text" else None
        )
        blocks.append(Block(found[2], document[: found.start(2)].count("\n"), prints))
    return blocks


def run_blocks(path: Path) -> list[Printed]:
    """Run the blocks of a document in order, in one namespace.

    Returns:
        For each block with a ``text`` block below: what that says and what was printed.
    """
    printed = []
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks_of(path.read_text(encoding="utf-8")):
        # Blank lines put the block at its line of the file, so that tracebacks point there.
        code = compile("\n" * block.line + block.source, str(path), "exec")
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(code, names)
        if block.prints is not None:
            place = f"{path.name}:{block.line}"
            printed.append(Printed(place, block.prints, output.getvalue()))
    return printed
