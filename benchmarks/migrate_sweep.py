"""The migration over other people's code: ``python -m benchmarks.migrate_sweep [NAME...]``.

Goes over the standard libraries of this machine and large packages of PyPI, which are downloaded
and never imported. Files that mention flax or NNX are migrated; their differences are written to
``build/migrate_sweep/diffs``, for reading. Of the others one in twenty, or all with ``--force``,
are migrated with an import of NNX planted at their end, which makes all rules look at them: the
import must be all that changes.

What libcst or Python cannot parse is counted and listed. It is a problem where the migration
crashes, changes what it must not, or changes code again in a second run.
"""

from __future__ import annotations

import argparse
import difflib
import shutil
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from benchmarks.migrate.checking import Checked, check_all, check_sampled
from benchmarks.migrate.packages import FOLDER, Subject, libraries, packages
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.workers import Task, in_processes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_CHUNK = 64
_SLOWEST = 10
COLUMNS = ("files", "lines", "mention NNX", "changed files", "places", "to decide")
MORE_COLUMNS = ("forced", "left", "problems", "seconds")


@dataclass
class Swept:
    """What happened to a subject.

    Attributes:
        subject: The subject.
        seconds: How long it took, with all processes.
        files: What happened to each file; None where a process ended at it.
    """

    subject: Subject
    seconds: float = 0.0
    files: dict[Path, Checked | None] = field(default_factory=dict)

    @property
    def checked(self) -> list[Checked]:
        """The files at which no process ended."""
        return [one for one in self.files.values() if one]

    def problems(self) -> Iterator[tuple[Path, str]]:
        """Yield what is wrong, with its file."""
        for path, one in self.files.items():
            for problem in one.problems if one else ("a process ended at this file",):
                yield path, problem

    def counts(self) -> tuple[int, ...]:
        """Return the numbers of a row of the table."""
        checked = self.checked
        return (
            len(self.files),
            sum(one.lines for one in checked),
            sum(one.mentions for one in checked),
            sum(one.after is not None for one in checked),
            sum(one.changed for one in checked),
            sum(one.to_decide for one in checked),
            sum(one.forced for one in checked),
            sum(bool(one.left) for one in checked),
            len(list(self.problems())),
            round(self.seconds),
        )


def sweep(subject: Subject, options: Options, jobs: int, *, force: bool) -> Swept:
    """Go over the files of a subject."""
    files = subject.files()
    task: Task[Checked | None] = Task(
        check_all if force else check_sampled, ((subject.folder,), options)
    )
    chunks = [files[start : start + _CHUNK] for start in range(0, len(files), _CHUNK)]
    start = time.perf_counter()
    found = dict(in_processes(task, chunks, jobs))
    return Swept(subject, time.perf_counter() - start, {path: found[path] for path in files})


def write_differences(swept: Swept, folder: Path) -> None:
    """Write what was changed in each file, and why files were left, for reading."""
    for path, one in swept.files.items():
        name = path.relative_to(swept.subject.folder)
        if one and one.after is not None:
            old, new = (
                data.decode("utf-8", "replace").splitlines(keepends=True)
                for data in (path.read_bytes(), one.after)
            )
            out = folder / swept.subject.name.replace(" ", "-") / f"{name}.diff"
            out.parent.mkdir(parents=True, exist_ok=True)
            lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
            out.write_text("".join(lines), encoding="utf-8")


def table(all_swept: Sequence[Swept]) -> Table:
    """Return a row for each subject, and their sum."""
    shown = Table("subject", title="typed-nnx migrate over other code", show_footer=True)
    rows = [one.counts() for one in all_swept]
    totals = [sum(column) for column in zip(*rows, strict=True)]
    for name, total in zip((*COLUMNS, *MORE_COLUMNS), totals, strict=True):
        shown.add_column(name, justify="right", footer=f"{total:,}")
    for one, row in zip(all_swept, rows, strict=True):
        shown.add_row(one.subject.name, *(f"{number:,}" for number in row))
    return shown


def listing(all_swept: Iterable[Swept]) -> str:
    """Return what is to be read: problems, remarks, files left as they are, the slowest files."""
    parts: dict[str, list[str]] = {"problems": [], "remarks": [], "left": [], "slowest": []}
    timed: list[tuple[float, Path, int]] = []
    for swept in all_swept:
        parts["problems"] += [f"{path}: {problem}" for path, problem in swept.problems()]
        for path, one in swept.files.items():
            if one:
                parts["remarks"] += [f"{path}: {remark}" for remark in one.remarks]
                parts["left"] += [f"{path}: {one.left}"] if one.left else []
                timed.append((one.seconds, path, one.lines))
    timed.sort(reverse=True)
    parts["slowest"] = [f"{s:6.1f} s  {path}  {n:,} lines" for s, path, n in timed[:_SLOWEST]]
    return "".join(f"== {title}: {len(rows)}\n{_lines(rows)}" for title, rows in parts.items())


def _lines(rows: Iterable[str]) -> str:
    return "".join(f"{row}\n" for row in rows)


def subjects(names: Sequence[str]) -> Iterator[Subject]:
    """Yield what is to be swept: by default the standard libraries and all packages."""
    if not names or "stdlib" in names:
        yield from libraries()
    others = [name for name in names if name != "stdlib"]
    if others or not names:
        yield from packages(others)


def main(arguments: list[str]) -> int:
    """Sweep; return 1 where there is a problem."""
    parser = argparse.ArgumentParser(description="typed-nnx migrate over other people's code")
    parser.add_argument("names", nargs="*", metavar="NAME", help="packages, or stdlib; or all")
    parser.add_argument("--force", action="store_true", help="also all files without NNX")
    parser.add_argument("--target", choices=("typed_nnx", "flax.nnx"), default="typed_nnx")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    chosen = parser.parse_args(arguments)
    console = Console(width=160)
    options = Options(target=chosen.target)
    differences = FOLDER / "diffs"
    shutil.rmtree(differences, ignore_errors=True)
    all_swept = []
    for subject in subjects(chosen.names):
        swept = sweep(subject, options, chosen.jobs, force=chosen.force)
        write_differences(swept, differences)
        console.print(f"{subject.name}: {len(swept.files):,} files, {swept.seconds:.0f} s")
        for path, problem in swept.problems():
            console.print(f"  {path}: {problem}", markup=False)
        all_swept.append(swept)
    console.print(table(all_swept))
    found = FOLDER / "found.txt"
    found.write_text(listing(all_swept), encoding="utf-8")
    console.print(f"differences: {differences}\nproblems and files left: {found}", markup=False)
    return int(any(True for swept in all_swept for _ in swept.problems()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
