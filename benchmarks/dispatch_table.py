"""The tables and the JSON of the dispatch benchmarks."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from rich.table import Table

# Names of alternatives, and what the tables call them.
SUBJECTS = {"ours": "ours", "flax": "flax", "linen": "Linen", "equinox": "equinox", "flat": "floor"}
TIMED = [name for name in SUBJECTS if name != "flat"]


@dataclasses.dataclass(frozen=True)
class Row:
    """What was measured of one case.

    Attributes:
        name: Of the case.
        size: Number of Variables, where that matters.
        seconds: Medians of a call by alternative.
        of_floor: How many times longer than the floor of the same turn each takes.
        again: The floor against itself: smaller differences mean nothing.
        goal: In words.
        reached: Whether it is; None where ours was not measured, or the floor is too unsteady to say.
    """

    name: str
    size: int | None
    seconds: dict[str, float]
    of_floor: dict[str, float]
    again: float
    goal: str
    reached: bool | None

    @property
    def verdict(self) -> str:
        """The goal and whether it is reached."""
        if not self.goal:
            return ""
        unknown = "UNCLEAR" if "ours" in self.seconds else "not measured"
        judged = {None: unknown, True: "reached", False: "MISSED"}
        return f"{self.goal} {judged[self.reached]}"


def micro(seconds: float | None) -> str:
    """Return a time as microseconds."""
    if seconds is None:
        return ""
    return f"{seconds * 1e6:,.2f}" if seconds < 1e-4 else f"{seconds * 1e6:,.0f}"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}x" if ratio < 10 else f"{ratio:,.0f}x"


def cases_table(title: str, rows: list[Row]) -> Table:
    """Return the rows as a table: microseconds, ratios to the floor, goals."""
    table = Table(title=title, title_justify="left")
    table.add_column("median of a call, µs")
    for heading in SUBJECTS.values():
        table.add_column(heading, justify="right")
    for name in TIMED:
        table.add_column(f"{SUBJECTS[name]} / floor", justify="right")
    table.add_column("floor again", justify="right")
    table.add_column("goal")
    for row in rows:
        table.add_row(
            row.name,
            *[micro(row.seconds.get(name)) for name in SUBJECTS],
            *[_times(row.of_floor.get(name)) for name in TIMED],
            _times(row.again),
            row.verdict,
            style="red" if row.reached is False else "",
        )
    return table


def as_json(rows: list[Row], others: dict[str, Any]) -> str:
    """Return all that was measured as JSON text."""
    entries = [
        {
            "name": row.name,
            "size": row.size,
            "seconds": row.seconds,
            "of_floor": row.of_floor,
            "floor_again": row.again,
            "goal": row.goal,
            "reached": row.reached,
        }
        for row in rows
    ]
    return json.dumps({"rows": entries, **others}, indent=2) + "\n"
