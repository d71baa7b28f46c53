"""mypy with and without the plugin over code of PyPI: ``python -m benchmarks.plugin_sweep``.

The packages are downloaded, never imported. Each is checked as code on flax.nnx; those that use
NNX are checked a second time as a copy that uses typed_nnx (``--runtime typed_nnx``). What the
plugin reports is written to ``build/plugin_sweep/RUNTIME/new_reports.txt`` with its source lines;
docs/plugin-sweep.md says of each report whether it is right.

``--mutants`` plants errors into that code and counts how many are found. ``--cost 5`` measures cold
and warm runs, without and with the plugin in turn.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.plugin.checking import MODES, Comparison, Run, Tree, compare, of_package
from benchmarks.plugin.cost import measure
from benchmarks.plugin.judgements import judge, summary
from benchmarks.plugin.mutation import Outcome, mutation_test
from benchmarks.plugin.packages import FOLDER, RUNTIMES, Unpacked, packages, unpack

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tests.support.type_checkers import Finding


def sweep(tree: Tree, code: Sequence[Unpacked]) -> tuple[Comparison, Run]:
    """Check the packages without and with the plugin, from nothing."""
    targets = [each.package.module for each in code]
    before = tree.run(MODES[0], targets)
    tree.forget(MODES[1])  # what mypy kept may be of an older check
    after = tree.run(MODES[1], targets)
    return compare(before, after), before


def table(runtime: str, code: Sequence[Unpacked], found: Comparison, before: Run) -> Table:
    """Return a row for each package, and their sum."""
    shown = Table("package", title=f"mypy with the plugin, {runtime}", show_footer=True)
    columns = ("lines", "on NNX", "errors without", "new", "gone", "others")
    rows = [(each, of_package(found, each.package.module, before)) for each in code]
    counts = [
        (each.lines, each.nnx_lines, part.before, len(part.new), len(part.gone), len(part.others))
        for each, part in rows
    ]
    for name, total in zip(columns, map(sum, zip(*counts, strict=True)), strict=True):
        shown.add_column(name, justify="right", footer=f"{total:,}")
    shown.add_column("new reports by code", footer=_by_code(found.new))
    for (each, part), numbers in zip(rows, counts, strict=True):
        name = f"{each.package.name} {each.package.version}"
        shown.add_row(name, *(f"{number:,}" for number in numbers), _by_code(part.new))
    return shown


def _by_code(reports: Iterable[Finding]) -> str:
    counts = Counter(each.code.removeprefix("nnx-") for each in reports)
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())


def listing(found: Comparison, folder: Path) -> str:
    """Return what is new and what is gone, with the source lines, for people to judge."""
    lines = []
    said = judge((*found.new, *found.others))
    for title, reports in (("new", found.new), ("others", found.others), ("gone", found.gone)):
        lines.append(f"== {title}: {len(reports)}")
        for each in reports:
            source = (folder / each.path).read_text(encoding="utf-8").splitlines()
            text = source[each.line - 1].strip() if each.line <= len(source) else ""
            lines += [f"{each.path}:{each.line} [{each.code}] {each.message}", f"    {text}"]
            if each in said:
                lines.append(f"    {said[each].verdict} {said[each].why}".rstrip())
    return "\n".join(lines) + "\n"


def mutation_table(outcomes: Iterable[Outcome]) -> Table:
    """Return a row for each error class."""
    outcomes = list(outcomes)
    found, planted = (sum(getattr(one, name) for one in outcomes) for name in ("found", "planted"))
    title = f"planted errors that are found: {found} of {planted}, {found / planted:.1%}"
    shown = Table("code", "planted by", title=title)
    for name in ("places", "unknown", "planted", "found", "by others"):
        shown.add_column(name, justify="right")
    for one in outcomes:
        counts = (one.places, one.unknown, one.planted, one.found, one.by_others)
        shown.add_row(one.code, escape(one.planter), *map(str, counts))
    return shown


def main(arguments: list[str]) -> int:
    """Sweep; return 1 where mypy or the plugin broke."""
    parser = argparse.ArgumentParser(description="mypy with and without the plugin")
    parser.add_argument("names", nargs="*", metavar="NAME", help="packages, by default all")
    parser.add_argument("--runtime", choices=RUNTIMES, default=RUNTIMES[0])
    parser.add_argument("--mutants", action="store_true", help="plant errors, count those found")
    parser.add_argument("--cost", type=int, metavar="ROUNDS", help="measure what the plugin costs")
    chosen = parser.parse_args(arguments)
    console = Console(width=160)
    tree = Tree(FOLDER / chosen.runtime)
    tree.folder.mkdir(parents=True, exist_ok=True)
    code = [
        unpack(each, tree.folder, chosen.runtime) for each in packages(chosen.runtime, chosen.names)
    ]
    if chosen.cost:
        console.print(measure(tree, [each.package.module for each in code], chosen.cost))
        return 0
    if chosen.mutants:
        console.print(mutation_table(mutation_test(chosen.runtime, code)))
        return 0
    found, before = sweep(tree, code)
    console.print(table(chosen.runtime, code, found, before))
    where = tree.folder / "new_reports.txt"
    where.write_text(listing(found, tree.folder), encoding="utf-8")
    console.print(f"reports: {where}\ncrash: {found.crash or 'none'}", markup=False)
    console.print(f"new reports: {summary(judge(found.new))}")
    console.print(f"others: {summary(judge(found.others))}")
    return int(bool(found.crash))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
