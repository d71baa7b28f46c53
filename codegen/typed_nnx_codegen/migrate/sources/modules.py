"""Python files."""

from __future__ import annotations

from dataclasses import replace

from typed_nnx_codegen.migrate.sources.encoding import Encoded, decode_module
from typed_nnx_codegen.migrate.sources.frames import code_of, frame_module, reframe
from typed_nnx_codegen.migrate.sources.outcome import Outcome, SourceError, TextMigration


def migrate_module(data: bytes, migrate: TextMigration) -> Outcome:
    """Migrate the bytes of a Python file.

    Raises:
        SourceError: They are no text, or the new text cannot be written in their encoding.
    """
    source = decode_module(data)
    lines = frame_module(source.text)
    code = code_of(lines)
    migrated = migrate(code)
    if migrated.text == code:
        return Outcome(data, migrated.findings)
    text = reframe(lines, migrated.text)
    new = source.encode(text)
    if not _is_read_as(new, replace(source, text=text)):
        raise SourceError(f"the new text would not be read as {source.encoding} any more")
    return Outcome(new, migrated.findings)


def _is_read_as(data: bytes, expected: Encoded) -> bool:
    """Whether bytes are read as they were meant: the comment with the encoding still counts."""
    try:
        return decode_module(data) == expected
    except SourceError:
        return False
