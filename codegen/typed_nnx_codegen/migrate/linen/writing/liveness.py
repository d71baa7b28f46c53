"""Lines of the new constructor as text, without those that compute what nothing reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from typed_nnx_codegen.migrate.linen.running.frames import Block, Compound, Line

_WHOLE_NAME: Final = re.compile(r"\b[A-Za-z_]\w*\b")
_INDENT: Final = "    "


def text_of(
    block: Block, spelled: Callable[[Line], list[str]], names: Callable[[str], Iterable[str]]
) -> list[str]:
    """Return the lines of a block.

    Args:
        block: The block.
        spelled: Gives the text of a line.
        names: Gives the names in what stands for something else in a piece of code.
    """
    texts: dict[int, list[str]] = {}
    _spell(block, spelled, texts)
    read: set[str] = set()
    while True:
        kept = _read(block, texts, read, names)
        if kept == read:
            return _written(block, texts, read, 0)
        read = kept


def _spell(block: Block, spelled: Callable[[Line], list[str]], texts: dict[int, list[str]]) -> None:
    for one in block:
        if isinstance(one, Line):
            texts[id(one)] = spelled(one)
        else:
            _spell(one.body, spelled, texts)
            _spell(one.orelse, spelled, texts)


def _is_kept(line: Line, read: set[str]) -> bool:
    return not line.local or any(name.strip() in read for name in line.local.split(","))


def _read(
    block: Block,
    texts: dict[int, list[str]],
    read: set[str],
    names: Callable[[str], Iterable[str]],
) -> set[str]:
    """Return the names that kept lines read, when those in `read` are needed."""
    found = set(read)
    for one in block:
        if isinstance(one, Line):
            if _is_kept(one, read):
                code = "\n".join(texts[id(one)])
                if one.local:
                    code = code.partition("=")[2]
                found.update(_WHOLE_NAME.findall(code), names(code))
        else:
            inner = _read(one.body, texts, read, names) | _read(one.orelse, texts, read, names)
            if _written([one], texts, read, 0):
                found.update(_WHOLE_NAME.findall(one.header), names(one.header))
            found |= inner
    return found


def _written(block: Block, texts: dict[int, list[str]], read: set[str], depth: int) -> list[str]:
    lines: list[str] = []
    for one in block:
        if isinstance(one, Line):
            if _is_kept(one, read):
                lines += [_INDENT * depth + text if text else "" for text in texts[id(one)]]
            continue
        body = _written(one.body, texts, read, depth + 1)
        orelse = _written(one.orelse, texts, read, depth + 1)
        lines += _compound(one, body, orelse, depth)
    return lines


def _compound(one: Compound, body: list[str], orelse: list[str], depth: int) -> list[str]:
    space = _INDENT * depth
    # A site that is not written after all has an empty line.
    body, orelse = (lines if any(lines) else [] for lines in (body, orelse))
    if not body and not orelse:
        return []
    if not body and one.header.startswith("if "):
        condition = one.header[3:-1]
        return [f"{space}if not ({condition}):", *orelse]
    if not body:
        body = [f"{space}{_INDENT}pass"]
    lines = [space + one.header, *body]
    if not orelse:
        return lines
    first = orelse[0]
    inner = space + _INDENT
    is_chain = first.startswith(f"{inner}if ") and all(
        line.startswith((inner + _INDENT, f"{inner}elif ", f"{inner}else:"))
        for line in orelse[1:]
        if line
    )
    if is_chain:
        chained = [line[len(_INDENT) :] for line in orelse]
        chained[0] = f"{space}el{chained[0].strip()}"
        return [*lines, *chained]
    return [*lines, f"{space}else:", *orelse]
