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

_FIXED: Final = {"None": NONE, "array": ARRAY, "special": UNKNOWN, "unknown": UNKNOWN}
_CONTAINERS: Final = frozenset({"dict", "list", "tuple"})
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
    inner = inner.removesuffix("]")
    if name in _FIXED:
        return _FIXED[name]
    if name == "self":
        return receiver
    if name == "type":
        return External(f"flax.nnx.{inner}")
    if name in _CONTAINERS:
        return _container(name, inner, receiver, arguments)
    if name in _PLAIN:
        return Plain(name)
    if name.startswith(("flax.", "optax.")):
        return Instance(name)
    if name.startswith("arg"):
        position = int(name[3:])
        return arguments[position] if position < len(arguments) else UNKNOWN
    return Instance(f"nnx.{name}") if name[:1].isupper() else UNKNOWN


def _container(name: str, inner: str, receiver: Value, arguments: Sequence[Value]) -> Value:
    items = [value_of(item, receiver, arguments) for item in _split(inner, ",") if item != "..."]
    if name == "tuple" and items and "..." not in inner:
        return Collection("tuple", tuple(items), join(*items))
    return Collection(name, None, items[-1] if items else UNKNOWN)


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
