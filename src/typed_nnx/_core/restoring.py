"""Settings that hold from now on or, as a context manager, for a block."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType


class Restoring:
    """Something that was set just now; leaving it as a context manager sets it back.

    Args:
        restore: Sets it back.
    """

    __slots__ = ("_restore",)

    def __init__(self, restore: Callable[[], None]) -> None:
        self._restore: Callable[[], None] = restore

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._restore()
