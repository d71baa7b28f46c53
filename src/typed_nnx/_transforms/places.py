"""Places among the arguments and results of a call, in words."""

from __future__ import annotations

import enum

from typed_nnx._core.paths import Path, attribute_path


class Root(enum.Enum):
    """What a path begins with that is no argument: no name of an argument is equal to it."""

    CAPTURED = "captured"
    CARRY = "init_val"


CAPTURED, CARRY = Root.CAPTURED, Root.CARRY


def place_name(path: Path) -> str:
    """Return a path whose first key is a position, a name or a `Root` as text: ``args[0].w``."""
    first, *rest = path
    if isinstance(first, int):
        return f"args[{first}]{attribute_path(tuple(rest))}"
    if first is CARRY:
        return f"{CARRY.value}{attribute_path(tuple(rest))}"
    if first is CAPTURED:
        kind, *below = rest
        return f"captured {kind}{attribute_path(tuple(below))}"
    return f"kwargs[{first!r}]{attribute_path(tuple(rest))}"


def result_name(path: Path) -> str:
    """Return a path in the result as text: ``result[0].w``."""
    return f"result{attribute_path(path)}"
