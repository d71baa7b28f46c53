"""Where the lines of one text are in another one that was made of it."""

from __future__ import annotations

import difflib
from bisect import bisect_right
from collections.abc import Sequence
from typing import AnyStr


class MovedLines:
    """Finds the lines of a text in another one.

    Args:
        lines: The lines of the text.
        others: The lines of the other text.
    """

    def __init__(self, lines: Sequence[AnyStr], others: Sequence[AnyStr]) -> None:
        matcher = difflib.SequenceMatcher(None, lines, others)
        # The last one is an empty block at the end of both: nothing starts there.
        self._blocks = matcher.get_matching_blocks()[:-1]
        self._starts = [block.a for block in self._blocks]

    def line(self, line: int) -> int:
        """Return where a line is in the other text, or would be; lines count from 1."""
        at = bisect_right(self._starts, line - 1) - 1
        if at < 0:
            return line
        block = self._blocks[at]
        return block.b + 1 + min(line - 1 - block.a, block.size)
