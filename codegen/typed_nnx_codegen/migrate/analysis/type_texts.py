"""Reads the types in the tables of `nnx_classes`: ``Param | None``, ``tuple[int, ...]``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from typed_nnx_codegen.migrate.analysis.values import (
    ARRAY,
    NONE,
    UNKNOWN,
    Collection,
    External,
    Instance,
    Plain,
    Value,
    join,
)

_PLAIN: Final = frozenset({"bool", "bytes", "callable", "float", "int", "str", "dtype"})


def value_of(text: str, receiver: Value = UNKNOWN, arguments: Sequence[Value] = ()) -> Value:
    """Return the value that a type of the tables describes.

    Args:
        text: The type.
        receiver: What ``self`` is.
        arguments: What ``arg0``, ``arg1``, ... are.
    """
    parts = _split(text, "|")
    if len(parts) > 1:
        return join(*(value_of(part, receiver, arguments) for part in parts))
    name, _, inner = text.partition("[")
    items = [
        value_of(item, receiver, arguments) for item in _split(inner[:-1], ",") if item != "..."
    ]
    match name:
        case "array":
            return ARRAY
        case "None":
            return NONE
        case "self":
            return receiver
        case "unknown" | "special":
            return UNKNOWN
        case "type":
            return External(f"nnx.{inner[:-1]}")
        case "list":
            return Collection("list", None, items[0] if items else UNKNOWN)
        case "tuple":
            if "..." in inner or not items:
                return Collection("tuple", None, items[0] if items else UNKNOWN)
            return Collection("tuple", tuple(items), join(*items))
        case "dict":
            return Collection("dict", None, items[-1] if items else UNKNOWN)
    if name in _PLAIN:
        return Plain(name)
    if name.startswith("arg"):
        position = int(name[3:])
        return arguments[position] if position < len(arguments) else UNKNOWN
    return (
        Instance(f"nnx.{name}", items[0] if items else UNKNOWN) if name[:1].isupper() else UNKNOWN
    )


@cache
def _split(text: str, separator: str) -> tuple[str, ...]:
    """Split at separators that are not within brackets."""
    parts: list[str] = []
    depth = 0
    current = ""
    for character in text:
        depth += {"[": 1, "]": -1}.get(character, 0)
        if character == separator and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    parts.append(current.strip())
    return tuple(part for part in parts if part)
