"""Which cached records an object belongs to, and how it tells them that it changed.

A record owns a `Cell`. Every object under the record's root keeps ``(cell, position)``. The cell
holds nothing but flags and a weak reference to the root, so an object that outlives its model does
not keep the model alive.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any, TypeAlias

# Two threads that build records over the same object must not lose each other's cell.
attach_lock = threading.RLock()


class Cell:
    """The validity of one record.

    Attributes:
        valid: False once something structural below the root changed; never True again.
        dirty: Positions of the nodes and Variables of which only static values changed.
        root: A weak reference to the root object, which keeps the record.
    """

    __slots__ = ("dirty", "root", "valid")

    def __init__(self, root: weakref.ref[Any]) -> None:
        self.valid = True
        self.dirty: set[int] = set()
        self.root = root

    def alive(self) -> bool:
        """Whether a record still listens."""
        root = self.root()
        return self.valid and root is not None and getattr(root._record, "cell", None) is self

    def invalidate(self) -> None:
        """Make the root forget the record, which may hold what was just removed."""
        self.valid = False
        root = self.root()
        if root is not None and getattr(root._record, "cell", None) is self:
            root._record = None


Membership: TypeAlias = tuple[tuple[Cell, int], ...]


def joined(cells: Membership, cell: Cell, position: int) -> Membership:
    """Return ``cells`` with one more member and without those that nobody listens to."""
    if not cells:
        return ((cell, position),)
    return (*[entry for entry in cells if entry[0].alive()], (cell, position))


def mark_structure(cells: Membership) -> None:
    """Say that an object gained, lost or replaced a node, Variable or container."""
    for cell, _ in cells:
        if cell.valid:
            cell.invalidate()


def mark_static(cells: Membership) -> None:
    """Say that only static values or metadata of an object changed."""
    for cell, position in cells:
        cell.dirty.add(position)
