"""The graph engine against flax, equinox and the flat list of the same arrays.

Run ``python -m benchmarks.graph`` (or ``make bench``). All alternatives of a row take turns in one
process; see `benchmarks.timing` for how they are timed.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import os
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
from rich.console import Console
from rich.table import Table

from benchmarks.case import Case
from benchmarks.cases import size_cases
from benchmarks.micro import micro_cases
from benchmarks.timing import medians

SIZES = (72, 702, 2802)
# The targets are for this size.
TARGET_SIZE = 702
NAMES = ("ours", "flax", "flat", "equinox")


@dataclasses.dataclass(frozen=True)
class Row:
    """The measured medians of one case, in seconds per call by alternative."""

    case: Case
    size: int | None
    seconds: dict[str, float]

    def ratio(self, name: str) -> float | None:
        """Return how many times longer than ours an alternative takes."""
        if name not in self.seconds or name == "ours":
            return None
        return self.seconds[name] / self.seconds["ours"]

    @property
    def of_flat(self) -> float | None:
        """How many times longer ours takes than the flat list."""
        return self.seconds["ours"] / self.seconds["flat"] if "flat" in self.seconds else None

    @property
    def verdict(self) -> str:
        """The target and whether it is reached; empty where there is none for this size."""
        target = self.case.target
        if target is None or self.size not in (None, TARGET_SIZE):
            return ""
        return f"{target.text} {'reached' if target.reached(self.seconds) else 'MISSED'}"


def measured(cases: Iterator[Case], size: int | None, budget: float) -> Iterator[Row]:
    """Time the cases one by one."""
    for case in cases:
        yield Row(case, size, medians(case.alternatives, budget))
        jax.clear_caches()


def _time(seconds: float | None) -> str:
    return (
        ""
        if seconds is None
        else f"{seconds * 1e6:,.2f}"
        if seconds < 1e-4
        else f"{seconds * 1e6:,.0f}"
    )


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}x" if ratio < 10 else f"{ratio:,.0f}x"


def table_of(title: str, rows: list[Row]) -> Table:
    """Return the rows as a table: microseconds, ratios, targets."""
    table = Table(title=title, title_justify="left")
    table.add_column("median of a call, µs")
    for name in NAMES:
        table.add_column(name, justify="right")
    for heading in ("flax / ours", "equinox / ours", "ours / flat"):
        table.add_column(heading, justify="right")
    table.add_column("target")
    for row in rows:
        table.add_row(
            row.case.name,
            *[_time(row.seconds.get(name)) for name in NAMES],
            _times(row.ratio("flax")),
            _times(row.ratio("equinox")),
            _times(row.of_flat),
            row.verdict,
            style="red" if row.verdict.endswith("MISSED") else "",
        )
    return table


def conditions() -> dict[str, Any]:
    """Return what the figures depend on."""
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "load": os.getloadavg()[0],
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "backend": jax.default_backend(),
        **{name: version(name) for name in ("jax", "optax", "flax", "equinox")},
    }


def as_json(rows: list[Row], before: dict[str, Any], after: dict[str, Any]) -> str:
    """Return rows and conditions as JSON text."""
    entries = [
        {
            "name": row.case.name,
            "size": row.size,
            "seconds": row.seconds,
            "flax_over_ours": row.ratio("flax"),
            "ours_over_flat": row.of_flat,
            "target": row.verdict,
        }
        for row in rows
    ]
    return json.dumps({"before": before, "after": after, "rows": entries}, indent=2) + "\n"


def main() -> None:
    """Measure and print one table per size and one for single operations."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N")
    parser.add_argument("--budget", type=float, default=2.0, help="seconds per row (default: 2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all medians to a file")
    options = parser.parse_args()
    console = Console(width=None if Console().is_terminal else 150)
    before = conditions()
    console.print(before)
    rows: list[Row] = []
    for size in options.sizes:
        found = list(measured(size_cases(size), size, options.budget))
        console.print(table_of(f"{size} Variables", found))
        rows += found
    found = list(measured(micro_cases(), None, options.budget))
    console.print(table_of("Single operations", found))
    rows += found
    after = conditions()
    console.print(
        f"load before {before['load']:.2f}, after {after['load']:.2f}; gc off while timing"
    )
    if options.json:
        options.json.write_text(as_json(rows, before, after), encoding="utf-8")


if __name__ == "__main__":
    main()
