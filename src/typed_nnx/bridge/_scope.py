"""What a running `bridge.Module` has: random streams and the collections that it may write."""

from __future__ import annotations

import enum
from typing import Any

from typed_nnx._core.pytree import Pytree
from typed_nnx._core.rngs import Rngs


class Scope(Pytree):
    """The random streams and the mutable collections of the Modules that run together.

    Args:
        rngs: The random streams.
        mutable: A filter of Linen: True, False, a name or several names.
    """

    def __init__(self, rngs: Rngs, mutable: Any) -> None:
        self.rngs: Rngs = rngs
        # Static attributes are compared and hashed.
        self.mutable: Any = tuple(mutable) if isinstance(mutable, list | set) else mutable

    def copy(self) -> Scope:
        """Return another scope with the same streams."""
        made = Scope(self.rngs, self.mutable)
        if "initializing" in vars(self):
            made.initializing = True
        return made

    # Only there while `init` runs, so that a function that is jitted around a Module is traced again.
    initializing: bool = False


class AttrPriority(enum.IntEnum):
    """Which attribute a Variable belongs to that is reached by several: the lowest wins."""

    HIGH = 0
    INIT_PARENT = 20
    DEFAULT = 50
    LOW = 100
