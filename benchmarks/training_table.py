"""The table of the training benchmarks: for terminals, as Markdown, and as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table

Goals = dict[str, float]
# Names of alternatives, and what the table calls them.
COLUMNS = {
    "ours": "typed-nnx",
    "flax": "flax.nnx",
    "linen": "Linen",
    "equinox": "equinox",
    "by hand": "by hand",
}
OTHERS = [name for name in COLUMNS if name != "ours"]


@dataclass(frozen=True)
class Row:
    """The medians of a row in seconds by alternative, and our goals as ratios to others."""

    name: str
    seconds: dict[str, float]
    goals: Goals

    def ratio(self, other: str) -> float | None:
        """Return our time as a part of another's, if that was measured."""
        return self.seconds["ours"] / self.seconds[other] if other in self.seconds else None

    @property
    def is_missed(self) -> bool:
        """Whether a goal is missed."""
        return any((self.ratio(other) or 0) > goal for other, goal in self.goals.items())

    def cells(self) -> list[str]:
        """Return the name, the times in milliseconds and our ratios to the others."""
        times = [_milli(self.seconds.get(name)) for name in COLUMNS]
        ratios = [self.ratio(other) for other in OTHERS]
        return [self.name, *times, *("" if each is None else f"{each:.2f}" for each in ratios)]


@dataclass
class Figures:
    """What was measured, and under which conditions."""

    before: dict[str, Any]
    rows: list[Row] = field(default_factory=list)

    def add(self, name: str, seconds: dict[str, float], goals: Goals) -> None:
        """Add a row."""
        self.rows.append(Row(name, seconds, goals))

    def table(self) -> Table:
        """Return a table for a terminal; a row that misses a goal is red."""
        table = Table(title="Training: medians in ms, and typed-nnx / others", title_justify="left")
        for number, heading in enumerate(_headings()):
            table.add_column(heading, justify="right" if number else "left")
        for row in self.rows:
            table.add_row(*row.cells(), style="red" if row.is_missed else "")
        return table

    def as_markdown(self) -> str:
        """Return the conditions and the table as Markdown."""
        said = ", ".join(f"{name} {value}" for name, value in self.before.items())
        headings = _headings()
        lines = [headings, ["---", *["---:"] * (len(headings) - 1)]]
        lines += [row.cells() for row in self.rows]
        return f"{said}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def as_json(self) -> str:
        """Return conditions and rows as JSON; times are in seconds."""
        rows = [
            {"name": row.name, "seconds": row.seconds, "goals": row.goals, "missed": row.is_missed}
            for row in self.rows
        ]
        return json.dumps({"conditions": self.before, "rows": rows}, indent=2) + "\n"


def _headings() -> list[str]:
    return ["", *COLUMNS.values(), *(f"/ {COLUMNS[other]}" for other in OTHERS)]


def _milli(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1e3:,.0f}" if seconds >= 0.1 else f"{seconds * 1e3:.3g}"
