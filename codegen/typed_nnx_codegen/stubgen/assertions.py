"""Lines of the case files that type checkers check, as ruff lays them out."""

from __future__ import annotations

from collections.abc import Iterator

_WIDTH = 100


def assertion(call: str, type_: str) -> Iterator[str]:
    """Yield the lines that assert the type of a call in the body of a function."""
    line = f"    assert_type({call}, {type_})"
    if len(line) <= _WIDTH:
        yield line
        return
    inside = f"        {call}, {type_}"
    if len(inside) <= _WIDTH:
        yield from ("    assert_type(", inside, "    )")
        return
    yield from ("    assert_type(", f"        {call},", f"        {type_},", "    )")
