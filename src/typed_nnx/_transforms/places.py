"""Places among the arguments and results of a call, in words."""

from __future__ import annotations

from typed_nnx._core.paths import Path, attribute_path

CAPTURED = "captured"


def place_name(path: Path) -> str:
    """Return a path whose first key is a position, a name or `CAPTURED` as text: ``args[0].w``."""
    first, *rest = path
    if isinstance(first, int):
        return f"args[{first}]{attribute_path(tuple(rest))}"
    if first == CAPTURED:
        kind, *below = rest
        return f"captured {kind}{attribute_path(tuple(below))}"
    return f"kwargs[{first!r}]{attribute_path(tuple(rest))}"


def result_name(path: Path) -> str:
    """Return a path in the result as text: ``result[0].w``."""
    return f"result{attribute_path(path)}"
