"""Compiled calls against flax.nnx, Linen, equinox and `jax.jit` on the flat list of the same arrays (the floor).

Run ``python -m benchmarks.dispatch``. Alternatives take turns in one process with the garbage
collector off; see `benchmarks.timing`. What is timed is the time until a call returns, as
jax completes it later; the result is waited for before the next call. ``--wait`` times the wait too.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import jax
from rich.console import Console

from benchmarks import dispatch_table
from benchmarks.adam import adam_cases
from benchmarks.calls import Planned, call_cases
from benchmarks.case import PEERS, Case, Target
from benchmarks.dispatch_table import Row
from benchmarks.eager import eager_cases
from benchmarks.graph import conditions
from benchmarks.new_models import ALTERNATING, new_model_cases
from benchmarks.timing import Alternative, medians

SIZES = (72, 702, 2802)


def judged(target: Target, seconds: dict[str, float], again: float) -> bool | None:
    """Return whether a goal is reached; None if that depends on which median of the floor counts."""
    by_one = target.reached(seconds)
    by_other = target.reached({**seconds, "flat": again * seconds["flat"]})
    return by_one if by_one == by_other else None


class Run:
    """One run of the benchmarks: its options, and what was found."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.quick: bool = options.quick
        self.sizes: list[int] = options.sizes or list(SIZES[:1] if self.quick else SIZES)
        self.budget: float = options.budget or (0.3 if self.quick else 2.0)
        self.console = Console(width=None if Console().is_terminal else 185)
        self.rows: list[Row] = []

    def wants(self, name: str) -> bool:
        """Whether ``--only`` lets a row through."""
        return not self.options.only or any(only in name for only in self.options.only)

    def log(self, text: str) -> None:
        """Say on stderr what takes long."""
        print(f"  {text} ...", file=sys.stderr, flush=True)

    def _timed(self, alternative: Alternative) -> Alternative:
        run, finish = alternative.run, alternative.finish
        if not self.options.wait:
            return alternative
        if finish is None:
            return alternative._replace(run=lambda *args: jax.block_until_ready(run(*args)))
        return alternative._replace(run=lambda *args: finish(run(*args)))

    def measured(self, case: Case, size: int | None) -> Row:
        """Time ours against the floor, and then the others against it.

        Not all at once: the others take so much longer that they empty the processor's caches, and
        a floor that pays for that flatters us. The floor takes part twice in the first turn. How
        far its two medians are apart is what no ratio of that row can tell.
        """
        by_name = {
            each.name: self._timed(each)
            for each in case.alternatives
            if each.name in (*self.options.subjects, "flat")
        }
        flat = by_name["flat"]
        close = [by_name[name] for name in ("ours", "flat") if name in by_name]
        seconds = medians([*close, flat._replace(name="again")], self.budget)
        again = seconds.pop("again") / seconds["flat"]
        of_floor = {name: time / seconds["flat"] for name, time in seconds.items()}
        others = [each for name, each in by_name.items() if name not in ("ours", "flat")]
        if others:
            found = medians([*others, flat], self.budget)
            floor = found.pop("flat")
            seconds |= found
            of_floor |= {name: time / floor for name, time in found.items()}
        target = case.target
        reached = judged(target, seconds, again) if target and "ours" in seconds else None
        goal = target.text.replace("flat:", "floor:") if target else ""
        return Row(case.name, size, seconds, of_floor, again, goal, reached)

    def cases(self, title: str, size: int | None, plan: list[Planned]) -> None:
        """Time cases and print their table."""
        rows = []
        for planned in plan:
            if not self.wants(planned.name):
                continue
            self.log(f"{title}: {planned.name}")
            case = planned.make()
            row = self.measured(case, size)
            rows.append(row)
            jax.clear_caches()
        if rows:
            self.console.print(dispatch_table.cases_table(title, rows))
        self.rows += rows

    def all(self) -> None:
        """Measure everything that is wanted."""
        for label, api in PEERS:
            for name in ("jit", "value_and_grad", "jit_partial", "cached_partial", "Linear"):
                if not hasattr(api, name):
                    self.console.print(f"{label} has no {name}: skipped in the rows that need it")
        for size in self.sizes:
            models = 5 if self.quick else ALTERNATING
            plan = call_cases(size) + new_model_cases(size, models) + adam_cases(size)
            self.cases(f"{size} Variables", size, plan)
        self.cases("Outside jit", None, eager_cases())


def measured_again(planned: Planned, size: int, budget: float, times: int) -> list[Row]:
    """Measure a case some times, with fresh models: where arrays happen to lie counts too.

    Args:
        planned: The case.
        size: Number of Variables.
        budget: Seconds for all of it.
        times: How often.
    """
    options = argparse.Namespace(
        quick=False,
        sizes=[size],
        budget=budget / times,
        only=None,
        wait=False,
        subjects=list(dispatch_table.SUBJECTS),
    )
    run = Run(options)
    return [run.measured(planned.make(), size) for _ in range(times)]


def main() -> None:
    """Measure, print the tables, and write the figures to a file if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help=f"default: {SIZES}")
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="only rows whose name contains NAME"
    )
    parser.add_argument(
        "--subjects",
        nargs="+",
        default=list(dispatch_table.SUBJECTS),
        choices=list(dispatch_table.SUBJECTS),
        help="who is timed beside the floor",
    )
    parser.add_argument("--quick", action="store_true", help="the smallest size, few rounds")
    parser.add_argument("--wait", action="store_true", help="time until the result is there")
    parser.add_argument("--budget", type=float, help="seconds per row (default: 2; quick: 0.3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all medians to a file")
    run = Run(parser.parse_args())
    before = conditions()
    run.console.print(before)
    run.all()
    after = conditions()
    run.console.print(
        f"load before {before['load']:.2f}, after {after['load']:.2f}; gc off while timing"
    )
    if run.options.json:
        loads = {"before": before, "after": after}
        run.options.json.write_text(dispatch_table.as_json(run.rows, loads), encoding="utf-8")


if __name__ == "__main__":
    main()
