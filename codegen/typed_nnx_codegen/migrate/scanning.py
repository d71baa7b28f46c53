"""What the bytes of a file tell before it is decoded: whether it can use NNX, whether a tool wrote it."""

from __future__ import annotations

import re
from typing import Final

_HEADER_BYTES: Final = 2000
_HEADER_LINES: Final = 15
_FIRST_CODE: Final = re.compile(rb"(?:import |from \S+ import |def |async def |class )")
_MARK: Final = re.compile(rb"(?<![\w.])@generated\b|\bDO NOT (?:EDIT|MODIFY|CHANGE)\b")
_WARNING: Final = re.compile(rb"\bdo not (?:edit|modify|change)\b", re.IGNORECASE)
_ORIGIN: Final = re.compile(rb"\b(?:auto-?)?generated\b", re.IGNORECASE)


def mentions_nnx(data: bytes) -> bool:
    """Whether a file can be affected at all: whether ``nnx`` or ``flax`` is somewhere in it."""
    return b"nnx" in data or b"flax" in data


def is_generated(data: bytes) -> bool:
    """Whether the header of a file says that a tool wrote it and will write it again."""
    header = b"\n".join(_header_lines(data))
    if _MARK.search(header):
        return True
    return bool(_WARNING.search(header) and _ORIGIN.search(header))


def _header_lines(data: bytes) -> list[bytes]:
    """Return the first lines of a file, up to its first import or definition."""
    lines = data[:_HEADER_BYTES].splitlines()[:_HEADER_LINES]
    code = (i for i, line in enumerate(lines) if _FIRST_CODE.match(line))
    return lines[: next(code, len(lines))]
