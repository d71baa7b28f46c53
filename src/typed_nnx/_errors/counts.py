"""How numbers of things are written."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number and the word for as many things."""
    return f"{number} {one if number == 1 else many or one + 's'}"
