"""Where the lines of a file are after its migration."""

from __future__ import annotations

import difflib
from bisect import bisect_right

from typed_nnx_codegen.migrate.findings import FileResult, Finding
from typed_nnx_codegen.migrate.shown_text import lines_of


class MovedLines:
    """Finds the lines of the text before in the text after.

    Args:
        result: The migration of a file.
    """

    def __init__(self, result: FileResult) -> None:
        before, after = lines_of(result.before), lines_of(result.after)
        matcher = difflib.SequenceMatcher(None, before, after)
        # The last one is an empty block at the end of both: nothing starts there.
        self._blocks = matcher.get_matching_blocks()[:-1]
        self._starts = [block.a for block in self._blocks]

    def after(self, finding: Finding) -> int:
        """Return the line of a finding in the text after, or the one where it would be."""
        at = bisect_right(self._starts, finding.line - 1) - 1
        if finding.part or at < 0:
            return finding.line
        block = self._blocks[at]
        return block.b + 1 + min(finding.line - 1 - block.a, block.size)
