"""The README's code runs, in order, and prints what stands under it.

A ``python`` block that a ``text`` block follows must print exactly that text.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any, NamedTuple

README = Path(__file__).parents[2] / "README.md"
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """A code block: its source, the line where it starts, and what it must print, if stated."""

    source: str
    line: int
    prints: str | None


def blocks_of(document: str) -> list[Block]:
    """Return the ``python`` blocks of a Markdown document."""
    fenced = list(FENCED.finditer(document))
    blocks = []
    for found, follower in zip(fenced, [*fenced[1:], None], strict=True):
        if found[1] != "python":
            continue
        directly = follower is not None and not document[found.end() : follower.start()].strip()
        prints = (
            follower[2] if follower is not None and directly and follower[1] == "text" else None
        )
        blocks.append(Block(found[2], document[: found.start(2)].count("\n"), prints))
    return blocks


def test_blocks_are_found_with_the_text_that_follows_directly() -> None:
    document = "a\n```python\nx\n```\n\n```text\n1\n```\n```python\ny\n```\nb\n```text\n2\n```\n"
    assert blocks_of(document) == [Block("x\n", 2, "1\n"), Block("y\n", 9, None)]


def test_every_block_of_the_readme_runs_and_prints_what_it_says() -> None:
    blocks = blocks_of(README.read_text(encoding="utf-8"))
    assert blocks
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks:
        # Blank lines put the block at its line of the README, so that tracebacks point there.
        code = compile("\n" * block.line + block.source, str(README), "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        if block.prints is not None:
            assert printed.getvalue() == block.prints, f"README.md, line {block.line}"
