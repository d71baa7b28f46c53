"""How many examples property tests draw: `make test` half as many as CI, the first ones of the same."""

from __future__ import annotations

#: Whether the run leaves out what is marked `thorough`; set before tests are imported.
quick = False


def share(examples: int) -> int:
    """Return how many of these examples this run draws."""
    return -(-examples // 2) if quick else examples
