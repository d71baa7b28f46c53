"""What the plugin costs: cold and warm runs of mypy, without and with it in turn."""

from __future__ import annotations

from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING

from rich.table import Table

from benchmarks.plugin.checking import MODES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.plugin.checking import Tree

# A warm run takes half a second: one alone says little.
WARM_RUNS = 10


def measure(tree: Tree, targets: Sequence[str], rounds: int) -> Table:
    """Return the median times of cold and warm runs; each round has one of both modes.

    A warm run is one where no file has changed. The mode that is first changes with each round.
    """
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    cpu: dict[tuple[str, str], list[float]] = defaultdict(list)
    for round_ in range(rounds):
        modes = MODES if round_ % 2 else MODES[::-1]
        for mode in modes:
            tree.forget(mode)
            _add(tree, mode, targets, "cold", seconds, cpu)
        for _ in range(WARM_RUNS):
            for mode in modes:
                _add(tree, mode, targets, "warm", seconds, cpu)
    shown = Table("run", "measured", title=f"cost of the plugin, {rounds} rounds, medians")
    for name in (*MODES, "ratio"):
        shown.add_column(name, justify="right")
    for kind in ("cold", "warm"):
        for name, times in (("seconds", seconds), ("CPU seconds", cpu)):
            without, with_ = (median(times[kind, mode]) for mode in MODES)
            shown.add_row(
                kind, name, f"{without:.2f}", f"{with_:.2f}", f"{with_ / without - 1:+.1%}"
            )
    return shown


def _add(
    tree: Tree,
    mode: str,
    targets: Sequence[str],
    kind: str,
    seconds: dict[tuple[str, str], list[float]],
    cpu: dict[tuple[str, str], list[float]],
) -> None:
    run = tree.run(mode, targets)
    seconds[kind, mode].append(run.seconds)
    cpu[kind, mode].append(run.cpu_seconds)
