"""Names that nothing else has."""

from __future__ import annotations


def free_name(name: str, taken: set[str]) -> str:
    """Return a name, with a number where it is taken; it is taken from then on.

    Args:
        name: The name.
        taken: The names that others have.
    """
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    taken.add(candidate)
    return candidate
