"""Documents with blocks of Python code; all that is not in a changed block stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from typed_nnx_codegen.migrate.sources.encoding import decode_utf8
from typed_nnx_codegen.migrate.sources.frames import Line, code_of, reframe, split_raw, usual_end
from typed_nnx_codegen.migrate.sources.outcome import Outcome, TextMigration
from typed_nnx_codegen.migrate.sources.parts import Part, migrate_parts


@dataclass(frozen=True)
class Block:
    """A block of Python code in a document.

    Attributes:
        start: The index of its first line in the document.
        lines: Its lines, without the indentation and the quote marks of the block.
        prefix: What new lines get in front.
    """

    start: int
    lines: tuple[Line, ...]
    prefix: str

    @property
    def is_even(self) -> bool:
        """Whether it has lines, and one indentation: not spaces here and tabs there."""
        fronts = [line.prefix for line in self.lines if line.code.strip()]
        tabs = {"\t" in front for front in fronts if front or self.prefix}
        return bool(self.lines) and tabs <= {"\t" in self.prefix}


# Finds the blocks in the lines of a document, each with its line end.
BlockFinder = Callable[[Sequence[tuple[str, str]]], list[Block]]


def migrate_document(data: bytes, migrate: TextMigration, find_blocks: BlockFinder) -> Outcome:
    """Migrate the Python blocks of a document.

    Raises:
        SourceError: It is no text in UTF-8, or cannot be put together again.
    """
    source = decode_utf8(data)
    rows = split_raw(source.text)
    blocks = find_blocks(rows)
    parts = [Part(number, code_of(_closed(block.lines))) for number, block in enumerate(blocks, 1)]
    codes, findings = migrate_parts(parts, migrate)
    if all(part.code == code for part, code in zip(parts, codes, strict=True)):
        return Outcome(data, findings)
    new: list[str] = []
    end = usual_end([closing for _, closing in rows]) or "\n"
    done = 0
    for block, part, code in zip(blocks, parts, codes, strict=True):
        if code != part.code:
            new += [raw + closing for raw, closing in rows[done : block.start]]
            new.append(reframe(_closed(block.lines), code, block.prefix, end))
            done = block.start + len(block.lines)
    new += [raw + closing for raw, closing in rows[done:]]
    return Outcome(source.encode("".join(new)), findings)


def _closed(lines: Sequence[Line]) -> list[Line]:
    """Return lines with the empty one that a text has behind its last line end."""
    return [*lines, Line("", "", "")] if lines and lines[-1].end else list(lines)
