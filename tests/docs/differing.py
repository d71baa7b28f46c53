"""A row of docs/differences.md as a program that is run with flax.nnx and with typed_nnx."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Case(NamedTuple):
    """A row, and what its program comes to.

    Attributes:
        row: The first cell of the row.
        run: The program; takes the library.
        flax: What it returns with flax, or the type of the error that it raises there.
        ours: What it returns with typed_nnx, or the name of the error in `typed_nnx.errors`.
    """

    row: str
    run: Callable[[Any], Any]
    flax: Any
    ours: Any
