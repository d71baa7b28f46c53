"""What an editor shows of a State: its tree, for each expression of a file that is one."""

from __future__ import annotations

from dataclasses import dataclass

from mypy.build import BuildResult


@dataclass(frozen=True)
class Hover:
    """What a State holds that an expression has as its value.

    Attributes:
        line: Where the expression begins, from 1.
        column: From 0.
        end_line: Where it ends, from 1.
        end_column: The column after it, from 0.
        text: The tree.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


def hovers_in(result: BuildResult, module: str) -> list[Hover]:
    """Return what the States in a module hold."""
    return []
