"""The migration of Linen over packages of PyPI: ``python -m benchmarks.linen_sweep [NAME...]``.

Each package is downloaded, never installed, and migrated as a whole into a copy of it below
``build/linen_sweep/migrated``. The table says how many classes need no person, and the codes of the
markers that the others have.

With ``--with-examples`` the examples in `benchmarks/linen_examples` are run in Linen, and each
package is migrated once more with the sizes that they tell, as ``typed-nnx migrate --example``
does. The table has the classes that need no person then as well; all else is of that migration.

With ``--lines`` the table has the lines of each package that the migration adds or removes, for
each of its classes: how long a diff a person reads.

With ``--verify`` the examples in `benchmarks/linen_examples` are run before and after the
migration, with the same weights. A class is equal where all its examples are: outputs, collections
and gradients. What is not equal and has no marker gets one, as with ``typed-nnx migrate --verify``:
it counts as a class that fails or has other numbers, and not as one without a marker. The status is
1 where a class without a marker computed something else, and where the migration itself fails.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from benchmarks.linen_checks import (
    VERDICTS,
    Judged,
    environment,
    judged,
    recorded_examples,
    run_examples,
)
from benchmarks.linen_packages import FOLDER, PACKAGES, examples_of, linen_files, unpacked
from benchmarks.packages import Package
from typed_nnx_codegen.console.bugs import described
from typed_nnx_codegen.migrate.linen.domain.class_plan import STAYS
from typed_nnx_codegen.migrate.linen.migration import (
    NO_FAILURES,
    Failures,
    LinenResult,
    map_path,
    map_text,
    migrate_linen,
)
from typed_nnx_codegen.migrate.options import Options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.linen_checks import Verdict
    from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan
    from typed_nnx_codegen.migrate.linen.trace.record import Trace

_SECONDS = 400.0


@dataclass
class Swept:
    """What happened to a package.

    Attributes:
        package: The package.
        old: The folder with its files.
        new: The folder with its migrated files.
        seconds: How long the migration took.
        crash: Why the migration failed; empty where it did not.
        marks: The classes of each file, with the codes of their markers.
        messages: What the markers say, by file and class.
        verdicts: The verdicts on the classes with examples, by file.
        alone: How many classes have no marker where no example tells sizes.
        trace: The sizes that its examples tell, if they were run.
    """

    package: Package
    old: Path
    new: Path
    seconds: float = 0.0
    crash: str = ""
    marks: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    verdicts: dict[str, dict[str, Judged]] = field(default_factory=dict)
    alone: int | None = None
    trace: Trace | None = None

    def lines(self) -> tuple[int, int]:
        """Return how many lines were added, and how many removed."""
        pairs = [(self.old / one.relative_to(self.new), one) for one in self.new.rglob("*.py")]
        counts = [
            changed_lines(old.read_text("utf-8"), new.read_text("utf-8"))
            for old, new in pairs
            if old.read_bytes() != new.read_bytes()
        ]
        return sum(added for added, _ in counts), sum(removed for _, removed in counts)

    @property
    def classes(self) -> list[list[str]]:
        """The codes of the markers of each class."""
        return [codes for names in self.marks.values() for codes in names.values()]

    @property
    def unmarked(self) -> int:
        """How many classes have no marker."""
        return sum(not codes for codes in self.classes)

    @property
    def codes(self) -> Counter[str]:
        """How many classes have a marker of each code."""
        return Counter(code for codes in self.classes for code in set(codes))

    def judged(self, *verdicts: Verdict) -> Iterator[tuple[str, Judged]]:
        """Yield the classes with a verdict among those that are named."""
        for file, names in self.verdicts.items():
            for name, one in names.items():
                if one.verdict in verdicts:
                    yield f"{self.package.key}/{file} {name}", one


def migrate(
    package: Package, trace: Trace | None = None, failures: Failures = NO_FAILURES
) -> Swept:
    """Migrate a package into a copy of it.

    Args:
        package: The package.
        trace: The sizes that its examples tell, if they were run.
        failures: What its examples showed when the migrated code was run.

    Raises:
        Unreachable: The package could not be downloaded.
    """
    old = unpacked(package)
    new = FOLDER / "migrated" / f"{package.key}-{package.version}"
    swept = Swept(package, old, new, trace=trace)
    shutil.rmtree(swept.new, ignore_errors=True)
    shutil.copytree(old, swept.new, ignore=shutil.ignore_patterns("__pycache__"))
    files = list(linen_files(package, old))
    start = time.perf_counter()
    try:
        results = migrate_linen(files, [old], Options(), trace, failures=failures)
    # The sweep goes on, and its status says that there is a bug of ours.
    except Exception as error:  # noqa: BLE001 - the report says it
        swept.crash = described(error)
        results = []
    swept.seconds = time.perf_counter() - start
    for result in results:
        _keep(swept, result)
    return swept


def _keep(swept: Swept, result: LinenResult) -> None:
    """Write a migrated file and its map, and note the markers of its classes."""
    name = result.path.relative_to(swept.old)
    if result.after != result.before:
        new = swept.new / name
        new.write_text(result.after, encoding="utf-8")
        map_path(new).write_text(map_text(result.map, None), encoding="utf-8")
    if result.error:
        swept.crash = f"{name}: {result.error}"
    for plan in result.plans:
        of_file = swept.marks.setdefault(name.as_posix(), {})
        of_file.setdefault(plan.cls.name, []).extend(_codes(plan))
        swept.messages += [
            f"{swept.package.key}/{name} {plan.cls.name}: {mark.code} {mark.message}"
            for mark in plan.marks
        ]


def changed_lines(before: str, after: str) -> tuple[int, int]:
    """Return how many lines a diff of two texts adds, and how many it removes."""
    old, new = before.splitlines(), after.splitlines()
    added = removed = 0
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            removed, added = removed + j - i, added + m - k
    return added, removed


def _codes(plan: ClassPlan) -> list[str]:
    codes = [mark.code for mark in plan.marks]
    return codes or ([STAYS] if plan.stays else [])


def with_examples(alone: Swept, python: Path, seconds: float = _SECONDS) -> Swept:
    """Migrate a package again, with the sizes that its examples tell.

    Args:
        alone: The package, migrated from its code alone.
        python: The Python to run the examples with.
        seconds: How long the examples of a file may take.
    """
    examples = examples_of(alone.package)
    swept = alone
    if examples:
        trace = recorded_examples(python, alone.old, examples, seconds)
        swept = migrate(alone.package, trace)
    swept.alone = alone.unmarked
    return swept


def verify(swept: Swept, python: Path, seconds: float = _SECONDS) -> Swept:
    """Run the examples of a migrated package; return it with markers at what is not equal.

    Args:
        swept: The package.
        python: The Python to run them with.
        seconds: How long the examples of a file may take.
    """
    for file, example_file in examples_of(swept.package).items():
        ran = run_examples(python, swept.old / file, swept.new / file, example_file, seconds)
        swept.verdicts[file] = judged(ran, swept.marks.get(file, {}))
    failing = {
        ((swept.old / file).resolve(), name): f"in an example {one.why}"
        for file, names in swept.verdicts.items()
        for name, one in names.items()
        if one.verdict in ("fails", "other numbers")
    }
    if not failing:
        return swept
    marked = migrate(swept.package, swept.trace, Failures(classes=failing))
    return replace(marked, verdicts=swept.verdicts, alone=swept.alone)


# -- what is shown ------------------------------------------------------------------------------


def table(all_swept: Sequence[Swept], *, is_verified: bool) -> Table:
    """Return a row for each package, and their sum."""
    is_told = any(one.alone is not None for one in all_swept)
    shown = Table("package", title="typed-nnx migrate --linen over packages", show_footer=True)
    rows = [_counts(one) for one in all_swept]
    totals = [sum(column) for column in zip(*rows, strict=True)] or [0] * (3 + len(VERDICTS))
    codes = sum((one.codes for one in all_swept), Counter[str]())
    footers = _cells(totals, codes, sum(one.seconds for one in all_swept))
    told = "with --example"
    names = ["classes", "without a marker", "share", told, "markers", "seconds", "with examples"]
    names = [*names, *VERDICTS] if is_verified else names[:-1]
    skipped = () if is_told else (names.index(told),)
    for number, (name, footer) in enumerate(zip(names, footers, strict=False)):
        if number not in skipped:
            shown.add_column(name, justify="left" if name == "markers" else "right", footer=footer)
    for one, row in zip(all_swept, rows, strict=True):
        cells = _cells(row, one.codes, one.seconds)[: len(names)]
        kept = [cell for number, cell in enumerate(cells) if number not in skipped]
        shown.add_row(f"{one.package.name} {one.package.version}", *kept)
    return shown


def _counts(swept: Swept) -> list[int]:
    verdicts = Counter(one.verdict for _, one in swept.judged(*VERDICTS))
    alone = swept.unmarked if swept.alone is None else swept.alone
    counts = [len(swept.classes), alone, swept.unmarked]
    return [*counts, *(verdicts[one] for one in VERDICTS)]


def _cells(counts: Sequence[int], codes: Counter[str], seconds: float) -> list[str]:
    classes, alone, told, *verdicts = counts
    share = f"{alone / classes:.1%}" if classes else "-"
    marks = ", ".join(f"{code} {number}" for code, number in sorted(codes.items()))
    cells = (str(classes), str(alone), share, str(told), marks, f"{seconds:.1f}")
    return [*cells, str(sum(verdicts)), *map(str, verdicts)]


def lines_table(all_swept: Sequence[Swept]) -> Table:
    """Return how many lines the diff of each package has for each of its classes."""
    shown = Table("package", title="lines changed by typed-nnx migrate --linen", show_footer=True)
    rows = [one.lines() for one in all_swept]
    sums = [sum(column) for column in zip(*rows, strict=True)] or [0, 0]
    classes = sum(len(one.classes) for one in all_swept)
    footers = (str(classes), *map(str, sums), f"{sum(sums) / max(classes, 1):.1f}")
    for name, footer in zip(("classes", "added", "removed", "for a class"), footers, strict=True):
        shown.add_column(name, justify="right", footer=footer)
    for one, lines in zip(all_swept, rows, strict=True):
        number = len(one.classes)
        cells = (str(number), *map(str, lines), f"{sum(lines) / max(number, 1):.1f}")
        shown.add_row(f"{one.package.name} {one.package.version}", *cells)
    return shown


def listing(all_swept: Sequence[Swept]) -> str:
    """Return what is to be read: crashes, classes that are not equal, and all markers."""
    parts: dict[str, list[str]] = defaultdict(list)
    for swept in all_swept:
        parts["crashes"] += [f"{swept.package.name}: {swept.crash}"] if swept.crash else []
        for verdict in VERDICTS[1:]:
            parts[verdict] += [f"{name}: {one.why}" for name, one in swept.judged(verdict)]
        parts["markers"] += swept.messages
    texts = (f"== {title}: {len(rows)}\n{_lines(rows)}" for title, rows in parts.items())
    return "".join(texts)


def _lines(rows: Sequence[str]) -> str:
    return "".join(f"{row}\n" for row in rows)


def is_bad(swept: Swept) -> bool:
    """Whether the migration failed, or a class without a marker computes something else."""
    return bool(swept.crash) or any(True for _ in swept.judged("other numbers"))


def main(arguments: list[str]) -> int:
    """Sweep; return 1 where a class without a marker computes something else, or at a crash."""
    parser = argparse.ArgumentParser(description="typed-nnx migrate --linen over packages")
    parser.add_argument("names", nargs="*", metavar="NAME", help="packages, by default all")
    parser.add_argument("--verify", action="store_true", help="run the examples as well")
    parser.add_argument("--with-examples", action="store_true", help="count with their sizes too")
    parser.add_argument("--lines", action="store_true", help="count the lines that changed")
    parser.add_argument("--timeout", type=float, default=_SECONDS, help="seconds for a file")
    chosen = parser.parse_args(arguments)
    console = Console(width=180)
    all_swept: list[Swept] = []
    for package in PACKAGES:
        if chosen.names and not {package.name, package.key} & set(chosen.names):
            continue
        swept = migrate(package)
        if chosen.with_examples:
            swept = with_examples(swept, environment(), chosen.timeout)
        if chosen.verify and examples_of(package):
            swept = verify(swept, environment(), chosen.timeout)
        all_swept.append(swept)
        console.print(f"{package.name}: {len(swept.classes)} classes, {swept.seconds:.0f} s")
        for name, one in swept.judged("fails", "other numbers"):
            console.print(f"  {one.verdict}: {name}: {one.why}", markup=False)
    console.print(table(all_swept, is_verified=chosen.verify))
    if chosen.lines:
        console.print(lines_table(all_swept))
    found = FOLDER / "found.txt"
    found.write_text(listing(all_swept), encoding="utf-8")
    console.print(f"markers, and what is not equal: {found}", markup=False)
    return int(any(map(is_bad, all_swept)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
