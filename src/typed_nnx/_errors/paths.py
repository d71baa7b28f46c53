"""How lists of paths are written."""

from __future__ import annotations

from collections.abc import Sequence


def listed(paths: Sequence[tuple[object, ...] | str]) -> str:
    """Return paths as lines of an error text, the first ten of them."""
    shown = [f"\n    {path if isinstance(path, str) else repr(path)}" for path in paths[:10]]
    more = f"\n    ... and {len(paths) - 10} more" if len(paths) > 10 else ""
    return "".join(shown) + more
