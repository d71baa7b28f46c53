"""Settings of a layer that its call, its constructor or its mode may give."""

from __future__ import annotations

from typing import TypeVar

from typed_nnx.errors import UnsetModeError

A = TypeVar("A")


def first_set(
    *values: A | None, layer: object, argument: str, why: str, fixes: tuple[str, ...]
) -> A:
    """Return the first of `values` that is not None.

    Args:
        *values: The candidates, the strongest first.
        layer: The layer that needs the setting, for the error.
        argument: The name of the setting.
        why: Why it is needed.
        fixes: Ways to set it, each a line of code.

    Raises:
        UnsetModeError: All are None.
    """
    for value in values:
        if value is not None:
            return value
    raise UnsetModeError(type(layer).__name__, argument, why, fixes)
