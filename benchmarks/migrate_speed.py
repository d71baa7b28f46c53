"""How fast the migration is: ``python -m benchmarks.migrate_speed``.

A synthetic project of 1,000,000 lines, of whose files 2 % are affected, is searched and migrated by
two processes; the goal is less than 30 seconds.

Then affected files are migrated one by one in this process, in turn with what a codemod on libcst
does before it looks at the code: ``MetadataWrapper(parse_module(text))``, which copies the tree, and
the providers of scopes, qualified names, parents and positions. The goal is at most twice that. The
last column is the ratio without the copy. The times are those of the processor.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import libcst as cst
from libcst.metadata import (
    MetadataWrapper,
    ParentNodeProvider,
    PositionProvider,
    QualifiedNameProvider,
    ScopeProvider,
)
from rich.console import Console
from rich.table import Table

from benchmarks.migrate.project import DENSE, affected_texts, dense_text, longest, write_project
from benchmarks.timing import collector_off
from typed_nnx_codegen.migrate.discovery import find_files
from typed_nnx_codegen.migrate.engine import migrate_text
from typed_nnx_codegen.migrate.findings import FileResult
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.project import Project
from typed_nnx_codegen.migrate.running import migrate_all

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS_GOAL: Final = 30.0
RATIO_GOAL: Final = 2.0
_PROVIDERS: Final = (ScopeProvider, QualifiedNameProvider, ParentNodeProvider, PositionProvider)
_TURNS: Final = 8  # the first one warms up


def resolve(text: str, *, copy: bool = True) -> None:
    """Do what libcst does for a codemod: parse, and resolve the metadata."""
    tree = cst.parse_module(text)
    MetadataWrapper(tree, unsafe_skip_copy=not copy).resolve_many(_PROVIDERS)


def seconds(*runs: Callable[[], object]) -> list[float]:
    """Return the median time of the processor that each of some runs takes, in turns."""
    found: list[list[float]] = [[] for _ in runs]
    with collector_off():
        for _ in range(_TURNS):
            for run, times in zip(runs, found, strict=True):
                gc.collect()
                start = time.process_time()
                run()
                times.append(time.process_time() - start)
    return [statistics.median(times[1:]) for times in found]


def whole_project(lines: int, jobs: int, rounds: int) -> tuple[Table, bool]:
    """Return what a project takes, and whether that is as quick as it is to be."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files, affected = write_project(folder, lines)
        searching, migrating = [], []
        results: list[FileResult] = []
        before = os.times()
        for _ in range(rounds):
            start = time.perf_counter()
            found = find_files((folder,)).files
            middle = time.perf_counter()
            results = migrate_all(found, (folder,), Options(), jobs)
            searching.append(middle - start)
            migrating.append(time.perf_counter() - middle)
        after = os.times()
    changed = sum(one.is_changed for one in results)
    failed = sum(bool(one.error) for one in results)
    total = statistics.median(map(sum, zip(searching, migrating, strict=True)))
    shown = Table("what", "value", title=f"a project of {lines:,} lines, {jobs} processes")
    shown.add_row("files", f"{len(files):,}")
    shown.add_row("affected, changed, failed", f"{affected}, {changed}, {failed}")
    shown.add_row("to search", f"{statistics.median(searching):.2f} s")
    shown.add_row("to migrate", f"{statistics.median(migrating):.2f} s")
    shown.add_row("processor time", f"{sum(after[:4]) - sum(before[:4]):.1f} s in {rounds} rounds")
    shown.add_row("goal", f"{total:.1f} s of {SECONDS_GOAL:.0f} s")
    return shown, total < SECONDS_GOAL and not failed and changed == affected


def single_files(count: int) -> tuple[Table, bool]:
    """Return what single files take, and whether each is as quick as it is to be."""
    shown = Table("file", title="migrate_text against libcst's parse and metadata, one process")
    for name in ("lines", "libcst, ms", "migrate_text, ms", "ratio", "without the copy"):
        shown.add_column(name, justify="right")
    ratios: list[tuple[float, float]] = []
    for name, text in [*longest(affected_texts(), count), (DENSE, dense_text())]:
        path = Path("affected.py")
        libcst, without_copy, ours = seconds(
            partial(resolve, text),
            partial(resolve, text, copy=False),
            partial(migrate_text, text, path, Project((path,)), Options()),
        )
        ratios.append((ours / libcst, ours / without_copy))
        times = (f"{each * 1000:.0f}" for each in (libcst, ours))
        shown.add_row(name, f"{text.count(chr(10)):,}", *times, *(f"{r:.2f}" for r in ratios[-1]))
    shown.add_section()
    medians = (f"{statistics.median(column):.2f}" for column in zip(*ratios, strict=True))
    shown.add_row("median", "", "", "", *medians)
    return shown, max(with_copy for with_copy, _ in ratios) <= RATIO_GOAL


def main(arguments: list[str]) -> int:
    """Measure; return 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description="how fast typed-nnx migrate is")
    parser.add_argument("--lines", type=int, default=1_000_000, help="of the synthetic project")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--rounds", type=int, default=3, help="over the project (default: 3)")
    parser.add_argument("--files", type=int, default=8, help="the longest so many (default: 8)")
    chosen = parser.parse_args(arguments)
    console = Console()
    project, is_quick = whole_project(chosen.lines, chosen.jobs, chosen.rounds)
    console.print(project)
    files, are_quick = single_files(chosen.files)
    console.print(files)
    return int(not (is_quick and are_quick))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
