"""The tables and the JSON of the dispatch benchmarks."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from rich.table import Table

from benchmarks.floor import Part
from benchmarks.growth import MODELS, Growth

# Names of alternatives, and what the tables call them.
SUBJECTS = {
    "ours": "ours",
    "flax": "flax",
    "linen": "Linen",
    "equinox": "equinox",
    "flat": "floor",
}
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


def stages_table(title: str, found: dict[str, dict[str, float]]) -> Table:
    """Return the stages of our calls as a table: microseconds, and the share of the floor."""
    table = Table(title=title, title_justify="left")
    table.add_column("stage of our jit, µs (of the floor)")
    for kind in found:
        table.add_column(kind, justify="right")
    for stage in next(iter(found.values())):
        cells = [
            f"{micro(seconds[stage])} ({seconds[stage] / seconds['floor']:.0%})"
            for seconds in found.values()
        ]
        table.add_row(stage, *cells)
    return table


def floor_table(title: str, parts: list[Part]) -> Table:
    """Return what the floor is made of as a table."""
    table = Table(title=title, title_justify="left")
    table.add_column("jax.jit on flat lists")
    table.add_column("µs", justify="right")
    table.add_column("more per array, µs", justify="right")
    for part in parts:
        each = "" if part.per_array is None else f"{part.per_array * 1e6:.3f}"
        table.add_row(part.name, micro(part.seconds), each)
    return table


def growth_table(found: list[Growth]) -> Table:
    """Return what fresh models left behind as a table."""
    table = Table(title="Left behind per fresh model", title_justify="left")
    table.add_column("function")
    for heading in ("models", "objects", "Python bytes", "resident bytes"):
        table.add_column(heading, justify="right")
    table.add_column("goal")
    for each in found:
        # With few models what is made once, such as a trace, would look like growth.
        ours = each.name.startswith("ours") and each.models >= MODELS
        table.add_row(
            each.name,
            f"{each.models:,}",
            f"{each.objects:.3f}",
            f"{each.allocated:.1f}",
            f"{each.resident:.1f}",
            f"none: {'MISSED' if each.grows else 'reached'}" if ours else "",
            style="red" if ours and each.grows else "",
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
