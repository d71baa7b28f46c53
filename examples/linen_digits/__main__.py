"""The demo: ``make demo``, or ``python -m examples.linen_digits``.

Takes a project on flax.linen, which reads handwritten digits, to typed_nnx: migrates it, has mypy
find planted mistakes, asks an editor for fields, trains, restores the Linen checkpoint, and writes
a report of all that.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from rich.console import Console

from examples.linen_digits.checking import check
from examples.linen_digits.commands import shown_path
from examples.linen_digits.completion import complete
from examples.linen_digits.migration import migrate
from examples.linen_digits.original import start_original
from examples.linen_digits.stage import Done, Stage, StepFailedError, Told

EPOCHS = 12
WIDTH = 120  # of lines in a pipe, in characters
MARK = ".made_by_the_demo"
INTRODUCTION = """\
A project on flax.linen that reads handwritten digits becomes one on typed_nnx.
To repeat a command: `. .venv/bin/activate`, then in the folder that stands before its `$`.
"""


class Step(NamedTuple):
    """A step of the demo."""

    title: str
    run: Callable[[Stage], Told]


def import_last() -> list[ModuleType]:
    """Import the last two steps, and jax and matplotlib with them, which take seconds."""
    names = ("examples.linen_digits.training", "examples.linen_digits.report")
    return [importlib.import_module(name) for name in names]


def train(stage: Stage) -> Told:
    """Train the migrated project."""
    told: Told = import_last()[0].train(stage)
    return told


STEPS = (
    Step("Start to train the Linen original", start_original),
    Step("Migrate it", migrate),
    Step("Write its training loop with types, and check it with mypy", check),
    Step("Complete its fields in an editor", complete),
    Step("Train the migrated project, and restore what Linen saved", train),
)


def epochs(text: str) -> int:
    """Read a number of epochs."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected a number from 1 on")
    return int(text)


def options(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser("python -m examples.linen_digits", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/demo"), metavar="DIR")
    parser.add_argument("--epochs", type=epochs, default=EPOCHS, metavar="N", help=f"({EPOCHS})")
    parser.add_argument("--accuracy", type=float, default=0.97, help="the least that is a success")
    return parser.parse_args(arguments)


@contextmanager
def announced(console: Console, number: int, title: str) -> Iterator[list[float]]:
    """Say that a step begins and how long it took; put the seconds into the list.

    Raises:
        StepFailedError: The step failed; the text says which.
    """
    console.rule(f"[bold]{number}. {title}", align="left")
    seconds: list[float] = []
    started = time.perf_counter()
    try:
        yield seconds
    except StepFailedError as error:
        raise StepFailedError(f"Step {number}, {title!r}, failed: {error}") from None
    seconds.append(time.perf_counter() - started)
    console.print(f"  [bold green]done[/] in {seconds[0]:.1f} s\n")


def carry_out(stage: Stage, steps: Sequence[Step]) -> Path:
    """Run the steps, write the report, and return its path.

    Raises:
        StepFailedError: A step failed.
    """
    done: list[Done] = []
    # While the first steps wait for their commands.
    threading.Thread(target=import_last, daemon=True).start()
    try:
        for number, step in enumerate(steps):
            with announced(stage.console, number, step.title) as seconds:
                told = step.run(stage)
            done.append(Done(step.title, seconds[0], told))
    finally:
        for job in stage.jobs:
            job.end()
    with announced(stage.console, len(steps), "Draw the curves, write the report"):
        page: Path = import_last()[1].write_report(stage, done)
    return page


def prepared(out: Path) -> Path:
    """Return the folder to fill; parts of it are deleted, so it must be new or of an earlier run.

    Raises:
        StepFailedError: It is something else.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()) and not (out / MARK).exists():
            raise StepFailedError(
                f"{shown_path(out)} has files that are not the demo's, which would overwrite them.\n"
                "  Fix: --out FOLDER, with a folder that is new or empty"
            )
        (out / MARK).touch()
    except OSError as error:
        raise StepFailedError(
            f"{shown_path(out)} is no folder to write to: {error.strerror}."
        ) from None
    return out


def main(arguments: Sequence[str]) -> int:
    """Run the demo, and return the exit code."""
    chosen = options(arguments)
    # In a pipe or a file nothing says how wide a line may be.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH)
    console.print(INTRODUCTION)
    started = time.perf_counter()
    try:
        out = prepared(chosen.out.resolve())
        page = carry_out(Stage(console, out, chosen.epochs, chosen.accuracy), STEPS)
    except StepFailedError as error:
        console.print(str(error), style="bold red", markup=False, soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        console.print("stopped")
        return 130
    console.print(f"All of it took {time.perf_counter() - started:.0f} s, and is in", style="bold")
    console.print(f"  {shown_path(page)}", soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
