"""Text of users' files as a terminal or a page may show it."""

from __future__ import annotations

import io
import tokenize
import unicodedata
from pathlib import Path
from typing import Final

_BOM: Final = "\ufeff"
_CONTROL_PICTURES: Final = 0x2400
_DELETE: Final = 0x7F


def lines_of(data: bytes) -> list[bytes]:
    """Return the lines of a file with their ends, as Git and patch count them."""
    # Not splitlines: it also ends lines at a lone carriage return.
    return data.splitlines(keepends=True) if b"\r" not in data else _split_at_newlines(data)


def _split_at_newlines(data: bytes) -> list[bytes]:
    *whole, last = data.split(b"\n")
    lines = [line + b"\n" for line in whole]
    return [*lines, last] if last else lines


def encoding_of(path: Path, data: bytes) -> str:
    """Return the encoding that a file is read with; only modules say one."""
    if path.suffix not in (".py", ".pyi"):
        return "utf-8"
    try:
        found, _ = tokenize.detect_encoding(io.BytesIO(data[:4096]).readline)
    except SyntaxError:
        return "utf-8"
    return "utf-8" if found == "utf-8-sig" else found


def shown_lines(path: Path, data: bytes) -> list[str]:
    """Return the lines of a file without their ends, fit to be shown."""
    encoding = encoding_of(path, data)
    return [shown_line(line, encoding) for line in lines_of(data)]


def shown_line(line: bytes, encoding: str) -> str:
    """Return one line without its end, fit to be shown."""
    text = line.decode(encoding, errors="replace")
    return shown(text.removesuffix("\n").removesuffix("\r").removeprefix(_BOM))


def shown_lines_of(message: str) -> str:
    """Return a message of several lines, fit to be shown."""
    return "\n".join(map(shown, message.split("\n")))


def shown(text: str) -> str:
    """Return the text with characters that steer a terminal or turn the reading direction made visible.

    They may stand in a file that is migrated, and a report must not do what such a file says.
    """
    if text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character == "\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return character
    number = ord(character)
    if number < ord(" "):
        return chr(_CONTROL_PICTURES + number)
    return "\u2421" if number == _DELETE else f"\\u{number:04x}"
