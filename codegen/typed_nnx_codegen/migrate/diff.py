"""What a migration changes, as a unified diff: bytes that patch takes, or coloured lines."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rich.text import Text

from typed_nnx_codegen.migrate.findings import FileResult
from typed_nnx_codegen.migrate.shown_text import encoding_of, lines_of, shown, shown_line

_NO_NEWLINE: Final = b"\\ No newline at end of file\n"
# One byte for one character, so that any file can be given to difflib and comes back as it was.
_BYTES: Final = "latin-1"
_STYLES: Final = {"@": "cyan", "-": "red", "+": "green", "\\": "dim"}


def patch_of(result: FileResult, folder: Path) -> bytes:
    """Return the change of a file as `git apply` and `patch -p1` take it in a folder.

    There is no ``diff --git`` line: Git would then begin paths at the root of the repository.
    """
    name = _name_in_patch(result.path, folder)
    head = (b"--- " + _quoted(b"a/" + name) + b"\n", b"+++ " + _quoted(b"b/" + name) + b"\n")
    return b"".join((*head, *_hunks(result)))


def coloured_patch_of(result: FileResult, folder: Path) -> Text:
    """Return the change of a file for a terminal: in its own encoding, nothing steers the terminal."""
    name = shown(os.fsdecode(_name_in_patch(result.path, folder)))
    text = Text().append(f"--- a/{name}\n+++ b/{name}\n", style="bold")
    encoding = encoding_of(result.path, result.before)
    for line in _hunks(result):
        mark = line[:1].decode(_BYTES)
        text.append(f"{mark}{shown_line(line[1:], encoding)}\n", style=_STYLES.get(mark, ""))
    return text


def _hunks(result: FileResult) -> Iterator[bytes]:
    before, after = (
        [line.decode(_BYTES) for line in lines_of(data)] for data in (result.before, result.after)
    )
    diff = difflib.unified_diff(before, after)
    # The names that difflib writes first: it knows nothing of quoting.
    next(diff, None)
    next(diff, None)
    for line in diff:
        data = line.encode(_BYTES)
        if data.endswith(b"\n"):
            yield data
        else:
            yield from (data + b"\n", _NO_NEWLINE)


def _name_in_patch(path: Path, folder: Path) -> bytes:
    """Return the path from the folder on, or from the root of the disk where it is elsewhere."""
    # Not resolved: a path through a link is named as the caller named it.
    full, base = Path(os.path.abspath(path)), Path(os.path.abspath(folder))
    inside = full.relative_to(base if full.is_relative_to(base) else full.anchor)
    return os.fsencode(inside.as_posix())


def _quoted(name: bytes) -> bytes:
    """Return a name as Git writes it: in quotes where a character would end it or mislead."""
    if any(byte < ord(" ") or byte in b'"\\\x7f' for byte in name):
        return b'"' + b"".join(_escaped(byte) for byte in name) + b'"'
    # A tab ends a name with spaces, as diff itself writes it.
    return name + b"\t" if b" " in name else name


def _escaped(byte: int) -> bytes:
    if byte in b'"\\':
        return b"\\" + bytes((byte,))
    if byte < ord(" ") or byte == 0x7F:
        return f"\\{byte:03o}".encode()
    return bytes((byte,))
