"""The table of the README: typed-nnx, flax.nnx, Linen and equinox side by side.

``python -m benchmarks.comparison`` measures everything in one process, alternatives in turns, and prints the table;
``--write`` keeps the figures in ``docs/comparison.json`` and puts the table into the pages that show it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from importlib.metadata import version

from rich.console import Console
from rich.markdown import Markdown

from benchmarks.calls import call_cases
from benchmarks.comparison_page import FIGURES, PAGES, Comparison, Row, with_table
from benchmarks.dispatch import measured_again
from benchmarks.graph import conditions
from benchmarks.mistakes.counting import count
from benchmarks.timing import medians
from benchmarks.training import (
    CONSTRUCTED,
    construction_alternatives,
    step_alternatives,
    trace_alternatives,
)
from benchmarks.training_models import tasks

SIZE = 702
REPEATED = 5
# What the benchmarks call the libraries, and what the table calls them.
COLUMNS = {"ours": "typed-nnx", "flax": "flax.nnx", "linen": "Linen", "equinox": "equinox"}
CALLS = {
    "read-only call": "a compiled call that reads, relative to `jax.jit`",
    "updating step": "a compiled call that rewrites all, relative to `jax.jit`",
}
CHECKS = {
    "mypy": "mistakes that mypy reports",
    "mypy and our plugin": "the same with our plugin",
    "pyright": "mistakes that pyright reports",
}


def calls(budget: float) -> list[Row]:
    """Time compiled calls against `jax.jit` on the flat list of the same arrays."""
    rows = []
    for planned in call_cases(SIZE):
        if planned.name in CALLS:
            found = measured_again(planned, SIZE, budget, REPEATED)
            cells = {
                COLUMNS[name]: _times(statistics.median(each.of_floor[name] for each in found))
                for name in COLUMNS
            }
            rows.append(Row(CALLS[planned.name], cells))
    return sorted(rows, key=lambda row: [*CALLS.values()].index(row.name))


def training(budget: float) -> list[Row]:
    """Time a step of the decoder, its tracing, and building a model."""
    (decoder,) = [task for task in tasks() if "decoder" in task.name]
    plan = {
        "a training step of a decoder": step_alternatives(decoder),
        "tracing and lowering it": trace_alternatives(decoder),
        f"building a model of {CONSTRUCTED:,} Variables": construction_alternatives(CONSTRUCTED),
    }
    rows = []
    for name, alternatives in plan.items():
        seconds = {key.lower(): time for key, time in medians(alternatives, budget).items()}
        cells = {COLUMNS[key]: _milli(seconds.get(key)) for key in COLUMNS}
        rows.append(Row(name, cells))
    return rows


def types() -> list[Row]:
    """Count which of the same mistakes the type checkers report."""
    found = count()
    rows = []
    for check, name in CHECKS.items():
        cells = {
            library: f"{sum(found[library, check].reported)} of {len(found[library, check].reported)}"
            if (library, check) in found
            else "-"
            for library in COLUMNS.values()
        }
        rows.append(Row(name, cells))
    false = {
        library: str(sum(len(one.complaints) for key, one in found.items() if key[0] == library))
        for library in COLUMNS.values()
    }
    return [*rows, Row("false errors", false)]


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def _milli(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    milli = seconds * 1e3
    return f"{milli:,.0f} ms" if milli >= 100 else f"{milli:.1f} ms"


def main() -> None:
    """Measure, print the table, and write it where it stands."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--budget", type=float, default=10.0, help="seconds per row (default: 10)")
    parser.add_argument("--write", action="store_true", help=f"into {FIGURES.name} and the pages")
    options = parser.parse_args()
    before = conditions() | {name: version(name) for name in ("typed-nnx", "mypy", "pyright")}
    rows = [*calls(options.budget), *training(options.budget), *types()]
    comparison = Comparison(before, rows)
    Console(width=150).print(Markdown(comparison.table()), before, os.getloadavg())
    if options.write:
        FIGURES.write_text(json.dumps(comparison.as_json(), indent=1) + "\n", encoding="utf-8")
        for page in PAGES:
            text = page.read_text(encoding="utf-8")
            page.write_text(with_table(text, comparison.table()), encoding="utf-8")


if __name__ == "__main__":
    main()
