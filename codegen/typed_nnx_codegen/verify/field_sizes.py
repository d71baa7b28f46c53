"""The integers in the fields of a Linen module, by the expressions that read them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Final

import flax.linen as nn

_OWN: Final = ("parent", "name")
# Below a field: that of a configuration, and an item of it.
_DEEPEST: Final = 2
_MOST: Final = 300


def field_sizes(module: nn.Module) -> dict[str, int]:
    """Return the positive integers in the fields of a module, by expression.

    They are those that its constructor may compute with: ``self.features``, ``self.widths[-1]``,
    ``self.config.hidden_size``, ``len(self.widths)``.
    """
    found: dict[str, int] = {}
    for field in dataclasses.fields(module):
        if field.name not in _OWN:
            value = getattr(module, field.name, None)
            for code, size in _sizes(f"self.{field.name}", value, 0):
                found.setdefault(code, size)
                if len(found) >= _MOST:
                    return found
    return found


def _sizes(code: str, value: Any, depth: int) -> Iterator[tuple[str, int]]:
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        if value > 0:
            yield code, value
    elif depth < _DEEPEST:
        for inner, each in _items(code, value):
            yield from _sizes(inner, each, depth + 1)


def _items(code: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((f"{code}[{key!r}]", each) for key, each in value.items() if _is_key(key))
    elif isinstance(value, list | tuple):
        yield f"len({code})", len(value)
        if value:
            yield f"{code}[-1]", value[-1]
        yield from ((f"{code}[{number}]", each) for number, each in enumerate(value))
    elif not isinstance(value, nn.Module | type | str) and not callable(value):
        attributes = getattr(value, "__dict__", {})
        yield from (
            (f"{code}.{name}", each) for name, each in attributes.items() if name.isidentifier()
        )


def _is_key(key: Any) -> bool:
    return isinstance(key, str)
