"""Caches that do not grow for ever."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Bounded(dict[K, V]):
    """A cache that forgets all that it holds when it is full.

    Args:
        most: How many entries it may have.
    """

    __slots__ = ("_most",)

    def __init__(self, most: int = 4096) -> None:
        super().__init__()
        self._most = most

    def add(self, key: K, value: V) -> V:
        """Keep a value and return it; if another thread kept one for the key first, return that."""
        if len(self) >= self._most:
            self.clear()
        return self.setdefault(key, value)
