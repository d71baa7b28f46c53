"""The default of arguments for which None is a value."""

from __future__ import annotations


class Unset:
    """The type of "no argument given"."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<not given>"


UNSET = Unset()
