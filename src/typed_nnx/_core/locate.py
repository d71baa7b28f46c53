"""Where in a model an object sits, for error messages."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

_DEPTH = 12


def where(target: Any) -> str | None:
    """Return the path to an object from the outermost object that holds it, or None.

    It is found through the garbage collector, slowly: only for the text of an error.
    """
    path, owner = _climb(target, _DEPTH)
    return f"{type(owner).__name__}{path}" if owner is not target else None


def _climb(target: Any, depth: int) -> tuple[str, Any]:
    if depth == 0:
        return "", target
    for parent, step in _holders(target):
        above, owner = _climb(parent, depth - 1)
        return above + step, owner
    return "", target


def _holders(target: Any) -> Iterator[tuple[Any, str]]:
    for holder in gc.get_referrers(target):
        attributes = getattr(holder, "__dict__", None)
        if attributes is not None and hasattr(type(holder), "_nnx_attributes"):
            yield from _named(holder, attributes, target)
        elif type(holder) is dict:
            for owner in gc.get_referrers(holder):
                if hasattr(type(owner), "_nnx_attributes") and owner.__dict__ is holder:
                    yield from _named(owner, holder, target)


def _named(owner: Any, attributes: dict[str, Any], target: Any) -> Iterator[tuple[Any, str]]:
    for name, value in attributes.items():
        if value is target:
            yield owner, f"[{name}]" if name.isdigit() else f".{name}"
