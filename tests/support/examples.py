"""How many examples property tests draw: `make test` half as many as CI, the first ones of the same."""

from __future__ import annotations

#: Whether the run leaves out what is marked `thorough`; set before tests are imported.
quick = False

#: Whether tests marked `slow` run too; set before tests are imported.
many = False


def share(examples: int) -> int:
    """Return how many of these examples this run draws."""
    return -(-examples // 2) if quick else examples


def few_or(usual: int, large: int) -> int:
    """Return the first number, or the second where slow tests run: the same law, asked more often."""
    return large if many else usual
