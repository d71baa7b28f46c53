"""Names that code computes for submodules: the texts that they may be."""

from __future__ import annotations

import re
from typing import Final

import libcst as cst

_LETTERS: Final = "ijklmnopq"
_FORMATTED: Final = re.compile(r"\{[^{}]*\}")
_PERCENT: Final = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[sdiufgxr]")


def name_pattern(node: cst.BaseExpression) -> str | None:
    """Return the text of a name with `{i}` for each part that is computed.

    None where the expression may be something else than a text, such as None.
    """
    parts = _parts(node)
    if parts is None:
        return None
    letters = iter(_LETTERS * len(parts))
    return "".join(f"{{{next(letters)}}}" if part is None else part for part in parts)


def _parts(node: cst.BaseExpression) -> list[str | None] | None:
    """Return the pieces of a text, None for one that is computed."""
    match node:
        case cst.SimpleString():
            text = node.evaluated_value
            return [text] if isinstance(text, str) else None
        case cst.FormattedString(parts=parts):
            return [
                part.value if isinstance(part, cst.FormattedStringText) else None for part in parts
            ]
        case cst.ConcatenatedString(left=left, right=right):
            return _joined(_parts(left), _parts(right))
        case cst.Call(func=cst.Name(value="str"), args=[_]):
            return [None]
        case cst.Call(
            func=cst.Attribute(value=cst.SimpleString() as text, attr=cst.Name(value="format"))
        ):
            return _split(_FORMATTED, text)
        case cst.BinaryOperation(left=cst.SimpleString() as text, operator=cst.Modulo()):
            return _split(_PERCENT, text)
        case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
            one, other = _parts(left), _parts(right)
            if one is None and other is None:
                return None
            # Only a text can be added to a text.
            return _joined(one or [None], other or [None])
    return None


def _joined(
    one: list[str | None] | None, other: list[str | None] | None
) -> list[str | None] | None:
    return None if one is None or other is None else [*one, *other]


def _split(computed: re.Pattern[str], node: cst.SimpleString) -> list[str | None] | None:
    text = node.evaluated_value
    if not isinstance(text, str):
        return None
    parts: list[str | None] = []
    end = 0
    for match in computed.finditer(text):
        parts += [text[end : match.start()], None]
        end = match.end()
    return [*parts, text[end:]]


def may_be_alike(one: str, other: str) -> bool:
    """Whether two patterns may be the same text."""
    first, second = (re.split(r"\{\w+\}", text) for text in (one, other))
    heads, tails = (first[0], second[0]), (first[-1], second[-1])
    if not heads[0].startswith(heads[1]) and not heads[1].startswith(heads[0]):
        return False
    return tails[0].endswith(tails[1]) or tails[1].endswith(tails[0])
