r"""Lines of code in what stands around them: indentation, quote marks, form feeds and line ends.

The rules see plain lines that end with "\n". What a file has around its lines is kept aside, and
is put back around the lines that come out: lines that did not change get their own back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Final

_END: Final = re.compile(r"\r\n|\r|\n")
# What libcst does not give back: form feeds in front of code, spaces after the last line end.
_FORM_FEED: Final = re.compile(r"[ \t\f]*\f(?=[ \t]*[^\s])")
_ONLY_SPACE: Final = re.compile(r"[ \t\f]+\Z")


@dataclass(frozen=True)
class Line:
    """One line of code.

    Attributes:
        code: The code, without what is around it.
        prefix: What the file has in front of it.
        end: The line end; empty at the end of the text.
    """

    code: str
    prefix: str = ""
    end: str = "\n"

    @property
    def raw(self) -> str:
        """The line as the file has it."""
        return f"{self.prefix}{self.code}{self.end}"


def split_raw(text: str) -> list[tuple[str, str]]:
    """Split a text into its lines and their ends; the last one, maybe empty, has no end."""
    pairs: list[tuple[str, str]] = []
    start = 0
    for found in _END.finditer(text):
        pairs.append((text[start : found.start()], found.group()))
        start = found.end()
    pairs.append((text[start:], ""))
    return pairs


def frame_module(text: str) -> list[Line]:
    """Split the text of a module, or of a cell, into lines."""
    pairs = split_raw(text)
    lines = [_without_form_feed(raw, end) for raw, end in pairs]
    if _ONLY_SPACE.match(pairs[-1][0]):
        lines[-1] = Line("", pairs[-1][0], "")
    return lines


def _without_form_feed(raw: str, end: str) -> Line:
    """Split a line from the form feeds in front of it; Python counts columns anew after them."""
    found = _FORM_FEED.match(raw) if "\f" in raw else None
    return Line(raw[found.end() :], found.group(), end) if found else Line(raw, "", end)


def code_of(lines: Sequence[Line]) -> str:
    """Return the code of lines, as the rules see it."""
    return "\n".join(line.code for line in lines)


def reframe(lines: Sequence[Line], code: str, prefix: str = "", end: str = "\n") -> str:
    """Put what the file has around its lines around new ones.

    Args:
        lines: The lines before.
        code: The new code; it ends as the old one does, with or without a line end.
        prefix: What is put in front of lines that no line before stands for.
        end: The line end to use where the lines before have none.
    """
    new = code.split("\n")
    usual = Line("", prefix, usual_end([line.end for line in lines]) or end)
    frames = _frames_of(lines, new, usual)
    framed = [
        Line(text, at.prefix, at.end or usual.end) for at, text in zip(frames, new, strict=True)
    ]
    framed[-1] = replace(framed[-1], end=lines[-1].end)
    return "".join(line.raw for line in framed)


def usual_end(ends: Sequence[str]) -> str:
    """Return the line end that is used most; empty where there is none."""
    found = Counter(end for end in ends if end).most_common(1)
    return found[0][0] if found else ""


def _frames_of(lines: Sequence[Line], new: Sequence[str], usual: Line) -> list[Line]:
    """Return for each new line the line before whose frame it gets."""
    if not any(line.prefix or line.end not in (usual.end, "") for line in lines):
        return [replace(usual, prefix="")] * len(new)
    frames: list[Line] = []
    for first, last, new_first, new_last in _aligned([line.code for line in lines], new):
        kept = lines[first:last][: new_last - new_first]
        near = lines[min(max(last - 1, 0), len(lines) - 1)].end or usual.end
        frames += [_for_text(old, text) for old, text in zip(kept, new[new_first:], strict=False)]
        more = new[new_first + len(kept) : new_last]
        frames += [_for_text(Line("x", usual.prefix, near), text) for text in more]
    return frames


def _for_text(frame: Line, text: str) -> Line:
    """Return the frame for a new line; a line that has become empty gets no space at its end."""
    return frame if text or not frame.code else replace(frame, prefix=frame.prefix.rstrip())


def _aligned(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """Return the ranges of lines that stand for each other.

    The lines that are equal at both ends are set aside: aligning costs the square of the rest.
    """
    limit = min(len(old), len(new))
    head = next((i for i in range(limit) if old[i] != new[i]), limit)
    tail = next((i for i in range(limit - head) if old[-1 - i] != new[-1 - i]), limit - head)
    middle = SequenceMatcher(
        None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False
    )
    ranges = [(0, head, 0, head)]
    for _, first, last, new_first, new_last in middle.get_opcodes():
        ranges.append((first + head, last + head, new_first + head, new_last + head))
    ranges.append((len(old) - tail, len(old), len(new) - tail, len(new)))
    return ranges
