"""What stops the generation of stubs."""

from __future__ import annotations


class StubError(Exception):
    """A stub cannot be made.

    Args:
        where: The module, and the line where it is known.
        found: What was found there.
        fix: What to do.
    """

    def __init__(self, where: str, found: str, fix: str) -> None:
        super().__init__(f"{where}: {found}\n  Fix: {fix}")
