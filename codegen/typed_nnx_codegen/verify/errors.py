"""What ends a run of the command, said without a traceback."""

from __future__ import annotations


class BadUse(Exception):
    """Files or examples that cannot be used; the message says which, and what to do."""
