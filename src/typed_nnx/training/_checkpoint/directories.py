"""Folders with numbered checkpoints: which are complete, which is next, how old ones go.

A number is written under a temporary name and renamed when it is complete, which is one step for the
file system; a folder is renamed before it is deleted. Whatever has the name of a number is whole.
"""

from __future__ import annotations

import re
from typing import Any

import jax

# Paths are `etils.epath.Path`, which has no types that checkers follow: Any.

# What saves and deletions that were killed leave behind.
_LEFTOVER = re.compile(r"[0-9]+\.(orbax-checkpoint-tmp.*|deleted)")


class Numbered:
    """A folder with checkpoints by number.

    Args:
        folder: The folder; it need not exist.
        prefix: What stands before the number in a name.
    """

    def __init__(self, folder: Any, prefix: str) -> None:
        self.folder = folder
        self.prefix = prefix

    def name(self, number: int) -> Any:
        """Return the path of a number."""
        return self.folder / f"{self.prefix}{number}"

    def complete(self) -> list[int]:
        """Return the numbers whose checkpoints are complete, in order."""
        return sorted(n for entry in self._entries() if (n := self._number_of(entry)) is not None)

    def strangers(self) -> list[str]:
        """Return the names of what is in the folder and has nothing to do with its numbers."""
        names = [entry.name for entry in self._entries()]
        return [n for n in names if not self._is_number(n) and not self._is_leftover(n)]

    def clean(self) -> None:
        """Delete what killed saves and deletions left behind."""
        if jax.process_index() == 0:
            for entry in self._entries():
                if self._is_leftover(entry.name):
                    entry.rmtree()

    def delete(self, numbers: list[int]) -> None:
        """Delete checkpoints; a kill in between leaves each of them whole or gone."""
        if jax.process_index() != 0:
            return
        for number in numbers:
            doomed = self.folder / f"{self.prefix}{number}.deleted"
            if doomed.exists():
                doomed.rmtree()
            self.name(number).rename(doomed).rmtree()

    def _entries(self) -> list[Any]:
        try:
            return sorted(self.folder.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _is_number(self, name: str) -> bool:
        return name.startswith(self.prefix) and name[len(self.prefix) :].isdecimal()

    def _is_leftover(self, name: str) -> bool:
        number = name.removeprefix(self.prefix)
        return name.startswith(self.prefix) and _LEFTOVER.fullmatch(number) is not None

    def _number_of(self, entry: Any) -> int | None:
        if not self._is_number(entry.name):
            return None
        # A bucket has no rename: there the last file that is written says that all are there.
        is_bucket = "://" in str(entry)
        if is_bucket and not (entry / "commit_success.txt").exists():
            return None
        return int(entry.name[len(self.prefix) :])


def versions(folder: Any) -> Numbered:
    """Return the versions in the folder that `save` writes to."""
    return Numbered(folder, "version_")


def steps(folder: Any) -> Numbered:
    """Return the steps in the folder of a manager, ours or that of orbax."""
    return Numbered(folder, "")
