"""The two methods that operators and conversions of Variables stand on."""

from __future__ import annotations

from typing import Generic, TypeVar

A = TypeVar("A")


class ValueHolder(Generic[A]):
    """Something with one value that operators read and, in place, replace."""

    __slots__ = ()

    def get_value(self) -> A:
        """Return the value that operators work on."""
        raise NotImplementedError

    def set_value(self, value: A) -> None:
        """Replace the value; in-place operators call it."""
        raise NotImplementedError
