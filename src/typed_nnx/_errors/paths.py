"""How lists of paths are written."""

from __future__ import annotations


def listed(paths: list[tuple[object, ...]]) -> str:
    """Return paths as lines of an error text, the first ten of them."""
    shown = [f"\n    {path!r}" for path in paths[:10]]
    more = f"\n    ... and {len(paths) - 10} more" if len(paths) > 10 else ""
    return "".join(shown) + more
