"""Threads that change places as often as Python can make them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def often(seconds: float = 1e-6) -> Iterator[None]:
    """Let a thread run for so long only before another has its turn."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(seconds)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
