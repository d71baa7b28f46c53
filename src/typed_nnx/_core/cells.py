"""Which cached records an object belongs to, and how it tells them that it changed.

A record owns a `Cell`, and every object under the record's root keeps the cell. The cell holds
nothing but a flag and a weak reference to the root, so an object that outlives its model does not
keep the model alive.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any, TypeAlias

# One thread at a time describes objects, builds and patches records, changes structures and writes
# what a transform returned. Held for microseconds; reading a value and replacing one go without.
graph_lock = threading.RLock()
# Where every step counts: a `with` statement takes twice as long.
acquire, release = graph_lock.acquire, graph_lock.release


class Cell:
    """The validity of one record.

    Attributes:
        valid: False once something structural below the root changed; never True again.
        dirty: Positions of the nodes and Variables of which only static values changed.
        root: A weak reference to the root object, which keeps the record.
        values: The raw values of the record's leaves, dropped by any write to one of them.
        shared: Whether some object is in another record too.
    """

    __slots__ = ("dirty", "root", "shared", "valid", "values")

    def __init__(self, root: weakref.ref[Any]) -> None:
        self.valid = True
        self.dirty: set[int] = set()
        self.root = root
        self.values: list[Any] | None = None
        self.shared = False

    def record(self) -> Any:
        """Return the record, or None if nobody listens any more."""
        root = self.root()
        record = None if root is None else root._nnx_record
        return record if record is not None and record.cell is self else None

    def alive(self) -> bool:
        """Whether a record still listens."""
        return self.valid and self.record() is not None

    def invalidate(self) -> None:
        """Make the root forget the record, which may hold what was just removed."""
        record, self.valid = self.record(), False
        self.values = None
        if record is not None:
            root = self.root()
            if root is not None:
                object.__setattr__(root, "_nnx_record", None)  # not through what a class defines


# All objects that belong to one record only share one tuple.
Membership: TypeAlias = tuple[Cell, ...]


def joined(cells: Membership, own: Membership) -> Membership:
    """Return both memberships, without those that nobody listens to.

    Another thread may be about to write through a record that nobody listens to any more: its cell
    learns too that it is not the only one.
    """
    living = [cell for cell in cells if cell.alive()]
    for cell in (*cells, *own) if living else cells:
        cell.shared = True
    return (*living, *own)


def mark_structure(cells: Membership) -> None:
    """Say that an object gained, lost or replaced a node, Variable or container."""
    for cell in cells:
        if cell.valid:
            cell.invalidate()


def mark_static(cells: Membership, changed: Any) -> None:
    """Say that only static values or metadata of an object changed."""
    for cell in cells:
        record = cell.record()
        if record is not None:
            cell.dirty.add(record.index[id(changed)])
