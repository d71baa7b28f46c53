"""The classes of the corpus that are left to a person in part, by file."""

from __future__ import annotations

from typing import Final

MARKED: Final[dict[str, set[str]]] = {}
