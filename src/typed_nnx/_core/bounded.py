"""Caches that do not grow for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Bounded(dict[K, V], Generic[K, V]):
    """A cache that forgets what was not asked for in the longest time.

    It has two halves, this dict and an older one. ``cache[key]`` finds what is in the younger half at
    the speed of a dict, brings what is in the older one back, and is None for what is in neither.

    Args:
        most: How many entries it may have.
    """

    __slots__ = ("_half", "_older")

    def __init__(self, most: int = 4096) -> None:
        self._half = most // 2 or 1
        self._older: dict[K, V] | None = None

    if TYPE_CHECKING:

        def __getitem__(self, key: K, /) -> V | None: ...  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]  # as `__missing__` says

    def __missing__(self, key: K) -> V | None:
        older = self._older
        found = None if older is None else older.get(key)
        return None if found is None else self.add(key, found)

    def add(self, key: K, value: V) -> V:
        """Keep a value and return it; if another thread kept one for the key first, return that."""
        if len(self) >= self._half:
            self._older = self.copy()
            super().clear()
        return self.setdefault(key, value)

    def all_values(self) -> list[V]:
        """Return what is kept, in both halves."""
        older = self._older or {}
        return [*older.values(), *[v for k, v in self.items() if k not in older]]

    def clear(self) -> None:
        """Forget all."""
        super().clear()
        self._older = None
