"""Folders with numbered checkpoints: which are complete, which is next, how old ones go.

A number is written under a temporary name and renamed when it is complete, which is one step for the
file system; a folder is renamed before it is deleted. A checkpoint that has the name of a number is
whole. Folders of others may have such names too: they are neither listed nor deleted.
"""

from __future__ import annotations

import json
import re
from typing import Any

import jax

# Paths are `etils.epath.Path`, which has no types that checkers follow: Any.

# What saves and deletions that were killed leave behind.
_LEFTOVER = re.compile(r"[0-9]+\.(orbax-checkpoint-tmp.*|typed-nnx-deleted)")

TREE_FILE = "_METADATA"
"""The file of orbax with the metadata of a tree."""

OURS = "typed_nnx"
"""The name of what we write into it."""

# Of a checkpoint whose items are no trees.
_STEP_FILE = "_CHECKPOINT_METADATA"


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
        return [
            entry.name
            for entry in self._entries()
            if self._number_of(entry) is None
            and not self._is_leftover(entry.name)
            and not (self._is_number(entry.name) and _in_a_bucket(entry))  # a save that was killed
        ]

    def is_stranger(self, number: int) -> bool:
        """Whether something else than a checkpoint has the name of a number."""
        return self.name(number).name in self.strangers()

    def own(self, numbers: list[int]) -> list[int]:
        """Return the numbers whose checkpoints this library wrote."""
        return [number for number in numbers if any(map(_is_own, trees_in(self.name(number))))]

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
            doomed = self.folder / f"{self.prefix}{number}.typed-nnx-deleted"
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
        if _in_a_bucket(entry) and not (entry / "commit_success.txt").exists():
            return None
        if not entry.is_dir() or not ((entry / _STEP_FILE).exists() or trees_in(entry)):
            return None
        return int(entry.name[len(self.prefix) :])


def trees_in(folder: Any) -> tuple[Any, ...]:
    """Return the folders of the trees of a checkpoint: its items, or itself."""
    if (folder / TREE_FILE).exists():
        return (folder,)
    try:
        return tuple(sorted(e for e in folder.iterdir() if (e / TREE_FILE).exists()))
    except (FileNotFoundError, NotADirectoryError):  # deleted meanwhile
        return ()


def _is_own(tree: Any) -> bool:
    try:
        return OURS in (json.loads((tree / TREE_FILE).read_text())["custom_metadata"] or ())
    except (ValueError, OSError, KeyError, TypeError):
        return False


def _in_a_bucket(entry: Any) -> bool:
    return "://" in str(entry)


def versions(folder: Any) -> Numbered:
    """Return the versions in the folder that `save` writes to."""
    return Numbered(folder, "version_")


def steps(folder: Any) -> Numbered:
    """Return the steps in the folder of a manager, ours or that of orbax."""
    return Numbered(folder, "")
