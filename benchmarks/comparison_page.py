"""The figures of the comparison as a table of Markdown, and the pages that show it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[1]
FIGURES = REPOSITORY / "docs" / "comparison.json"
PAGES = (REPOSITORY / "README.md", REPOSITORY / "docs" / "comparison.md")
BEGIN = "<!-- figures: python -m benchmarks.comparison --write -->"
END = "<!-- end of the figures -->"


@dataclass(frozen=True)
class Row:
    """One line of the table: what is measured, and the figure of each library."""

    name: str
    cells: dict[str, str]


@dataclass(frozen=True)
class Comparison:
    """All figures, and what they depend on: date, machine, versions."""

    conditions: dict[str, Any]
    rows: list[Row]

    @classmethod
    def read(cls) -> Comparison:
        """Return the figures that are kept."""
        found = json.loads(FIGURES.read_text(encoding="utf-8"))
        return cls(found["conditions"], [Row(**row) for row in found["rows"]])

    def as_json(self) -> dict[str, Any]:
        """Return the figures as what JSON can hold."""
        return asdict(self)

    def table(self) -> str:
        """Return the table, with a line on its conditions below."""
        libraries = list(self.rows[0].cells)
        lines = [
            f"| | {' | '.join(libraries)} |",
            f"|---|{'---:|' * len(libraries)}",
            *(f"| {row.name} | {' | '.join(row.cells.values())} |" for row in self.rows),
        ]
        told = self.conditions
        packages = ("jax", "flax", "equinox", "optax", "mypy", "pyright")
        versions = ", ".join(f"{name} {told[name]}" for name in packages)
        machine = f"{told['machine']}, {told['cores']} cores, {told['backend'].upper()} backend"
        said = f"Measured on {told['date']}: {machine}; Python {told['python']}, {versions}."
        return "\n".join([*lines, "", said])


def with_table(page: str, table: str, begin: str = BEGIN) -> str:
    """Return a page with the table between its two marks.

    Args:
        page: The text of the page.
        table: What to put there.
        begin: The mark before the table; the one behind it is `END`.

    Raises:
        ValueError: The page does not have the marks.
    """
    before, mark, rest = page.partition(begin)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise ValueError(f"the page lacks the lines {begin!r} and {END!r}")
    return f"{before}{begin}\n\n{table}\n\n{END}{after}"
