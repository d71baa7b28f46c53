"""Documents with blocks of Python code; all that is not in a changed block stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from typed_nnx_codegen.migrate.sources.encoding import decode_utf8
from typed_nnx_codegen.migrate.sources.frames import Line, code_of, reframe, split_raw, usual_end
from typed_nnx_codegen.migrate.sources.outcome import Outcome, TextMigration
from typed_nnx_codegen.migrate.sources.parts import Part, migrate_parts
from typed_nnx_codegen.migrate.sources.prompts import examples_in, has_prompts, prompted


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


@dataclass(frozen=True)
class _Piece:
    """Lines of a document that are one part: a block, or one example with prompts in it."""

    start: int
    lines: tuple[Line, ...]
    prefix: str
    is_prompted: bool
    part: Part

    @property
    def stop(self) -> int:
        """The index behind its last line in the document."""
        return self.start + len(self.lines)


# Finds the blocks in the lines of a document, each with its line end.
BlockFinder = Callable[[Sequence[tuple[str, str]]], list[Block]]


def migrate_document(data: bytes, migrate: TextMigration, find_blocks: BlockFinder) -> Outcome:
    """Migrate the Python blocks of a document.

    Raises:
        SourceError: It is no text in UTF-8, or cannot be put together again.
    """
    source = decode_utf8(data)
    rows = split_raw(source.text)
    pieces = [
        piece
        for number, block in enumerate(find_blocks(rows), 1)
        for piece in _pieces_of(block, number)
    ]
    codes, findings = migrate_parts([piece.part for piece in pieces], migrate)
    if all(piece.part.code == code for piece, code in zip(pieces, codes, strict=True)):
        return Outcome(data, findings)
    new: list[str] = []
    end = usual_end([closing for _, closing in rows]) or "\n"
    done = 0
    for piece, code in zip(pieces, codes, strict=True):
        if code != piece.part.code:
            new += [raw + closing for raw, closing in rows[done : piece.start]]
            new.append(_reframed(piece, code, end))
            done = piece.stop
    new += [raw + closing for raw, closing in rows[done:]]
    return Outcome(source.encode("".join(new)), findings)


def _pieces_of(block: Block, number: int) -> list[_Piece]:
    """Return the pieces of a block: itself, or the examples in it."""
    if not has_prompts(block.lines):
        part = Part(number, code_of(_closed(block.lines)))
        return [_Piece(block.start, block.lines, block.prefix, False, part)]
    return [
        _Piece(
            block.start + first,
            lines,
            block.prefix,
            True,
            Part(number, code_of(_closed(lines)), first_line=first + 1),
        )
        for first, lines in examples_in(block.lines)
    ]


def _closed(lines: Sequence[Line]) -> list[Line]:
    """Return lines with the empty one that a text has behind its last line end."""
    return [*lines, Line("", "", "")] if lines and lines[-1].end else list(lines)


def _reframed(piece: _Piece, code: str, end: str) -> str:
    """Return the lines of the document for a new piece of code."""
    lines = _closed(piece.lines)
    if piece.is_prompted:
        return prompted(lines, code, end)
    return reframe(lines, code, piece.prefix, end)
