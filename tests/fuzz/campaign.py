"""Many random programs, graphs and threads, over processes; what `make fuzz` runs.

What fails is cut down, shown and saved in `found.txt`, which the tests replay.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import os
import re
import time
import typing as tp
from pathlib import Path

FOUND = Path(__file__).parent / "found.txt"
Counts: tp.TypeAlias = "collections.Counter[str]"


def prepare() -> None:
    """Set jax up as the tests do, before it is imported."""
    from tests.conftest import QUICK_COMPILER

    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("XLA_FLAGS", " ".join(QUICK_COMPILER))
    import jax

    jax.config.update("jax_numpy_dtype_promotion", "strict")
    jax.config.update("jax_numpy_rank_promotion", "raise")


def check_programs(seeds: range) -> tuple[Counts, list[tuple[str, str]]]:
    """Judge the programs of some seeds; return counts, and (text, entry of `found.txt`) of failures."""
    from tests.fuzz.compare import cut_down, judge
    from tests.fuzz.programs import write_program

    counts: Counts = collections.Counter()
    failed: list[tuple[str, str]] = []
    for seed in seeds:
        program = write_program(seed)
        verdict = judge(program.source(), program.closures)
        counts["programs"] += 1
        counts["programs that end with an error"] += verdict.failed
        counts["programs that flax accepts"] += verdict.peer_ran
        counts["programs to which the reference has no answer"] += verdict.unclear
        if verdict.row:
            counts[f"programs where flax differs by the row of: {verdict.row}"] += 1
        text = verdict.mismatch or verdict.unexcused
        if text is not None:
            counts["mismatches"] += 1
            small = cut_down(program, peer=verdict.mismatch is None)
            head = f"# program {seed}{' with closures' if program.closures else ''}"
            failed.append((text, f"{head}\n{small.source()}"))
    return counts, failed


def check_graphs(seeds: range) -> tuple[Counts, list[tuple[str, str]]]:
    """Check the worlds of some seeds; return counts, and (text, entry of `found.txt`) of failures."""
    from tests.fuzz import graphs

    counts: Counts = collections.Counter()
    failed: list[tuple[str, str]] = []
    for seed in seeds:
        done, failure = graphs.play(seed)
        counts["graphs"] += 1
        counts["checks of graphs"] += done
        if failure is not None:
            counts["mismatches"] += 1
            failure = graphs.cut_down(failure)
            left_out = " ".join(map(str, sorted(failure.skip)))
            failed.append((str(failure), f"# graph {seed} without {left_out}\n"))
    return counts, failed


def check_threads(seeds: range) -> tuple[Counts, list[tuple[str, str]]]:
    """Run the threads of some seeds; return counts, and (text, nothing to save) of failures."""
    from tests.fuzz import threads

    counts: Counts = collections.Counter()
    failed: list[tuple[str, str]] = []
    for seed in seeds:
        wrong = threads.play(seed)
        counts["runs of eight threads"] += 1
        if wrong:
            counts["mismatches"] += 1
            failed.append((f"threads {seed}: " + "\n".join(wrong[:5]), ""))  # no seed repeats it
    return counts, failed


CHECKS: dict[str, tp.Callable[[range], tuple[Counts, list[tuple[str, str]]]]] = {
    "programs": check_programs,
    "graphs": check_graphs,
    "threads": check_threads,
}


def work(task: tuple[str, range]) -> tuple[Counts, list[tuple[str, str]]]:
    """Do one part of the work."""
    kind, seeds = task
    return CHECKS[kind](seeds)


def entries(text: str) -> list[tuple[str, str]]:
    """Return the (first line, rest) of each entry of `found.txt`."""
    parts = re.split(r"^(?=# (?:program|graph) )", text, flags=re.MULTILINE)
    return [tp.cast("tuple[str, str]", part.partition("\n")[::2]) for part in parts if part.strip()]


def tasks(count: int, start: int, only: str | None) -> list[tuple[str, range]]:
    """Divide the work: for each program about ten checks of graphs, and a few runs of threads."""
    kinds = (
        ("programs", count, 20),
        ("graphs", count // 4 + 1, 100),
        ("threads", count // 20 + 1, 50),
    )
    found = []
    for kind, number, size in kinds:
        if only in (None, kind):
            seeds = range(start, start + number)
            found += [(kind, seeds[n : n + size]) for n in range(0, number, size)]
    return found


def main(argv: tp.Sequence[str] | None = None) -> int:
    """Run; return 1 if anything does not agree."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument(
        "count", type=int, help="number of programs; ten times as many checks of graphs"
    )
    parser.add_argument("--only", choices=tuple(CHECKS), help="leave out the others")
    parser.add_argument("--start", type=int, help="first seed (default: by the clock)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args(argv)
    prepare()
    start = int(time.time()) * 1000 if given.start is None else given.start
    parts = tasks(given.count, start, given.only)
    counts: Counts = collections.Counter()
    begin, failures = time.monotonic(), 0
    # A process that has compiled many programs is replaced: XLA keeps them.
    context = multiprocessing.get_context("spawn")
    with context.Pool(given.processes, initializer=prepare, maxtasksperchild=20) as pool:
        for found, failed in pool.imap_unordered(work, parts):
            counts.update(found)
            failures += len(failed)
            for text, entry in failed:
                print(f"{text}\n{entry}", flush=True)
                with FOUND.open("a") as file:
                    file.write(entry)
            done = f"{counts['programs']} programs, {counts['checks of graphs']} checks of graphs"
            print(f"{time.monotonic() - begin:.0f} s: {done}, {failures} mismatches", flush=True)
    for name, count in sorted(counts.items()):
        print(f"{count:8} {name}")
    return 1 if failures else 0
