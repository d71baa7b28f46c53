"""Runs the installed commands, and shows the line that a person types to repeat it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich.text import Text

from examples.linen_digits.stage import Stage, StepFailedError, Told

TIMEOUT = 300.0  # seconds
SHOWN = 2000  # characters of what a command that failed said


class Ran(NamedTuple):
    """What a command said, and its exit status."""

    said: str
    complained: str
    status: int


def shown_path(path: Path) -> str:
    """Return a path as a person types it: from the current folder where it is below that."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def announce(stage: Stage, told: Told, command: Sequence[str], folder: Path) -> None:
    """Show a command line as it is typed in a folder, also in the report."""
    line = shlex.join(command)
    told.commands.append((folder, line))
    where = "" if folder == Path.cwd() else f"{shown_path(folder)} "
    prompt = Text.assemble((where, "dim"), ("$ ", "bold green"), line)
    stage.console.print(prompt, soft_wrap=True)


def call(
    command: Sequence[str], folder: Path, *, statuses: Sequence[int] = (0,), captured: bool = True
) -> Ran:
    """Run an installed command.

    Args:
        command: Its name, and its arguments.
        folder: Where it runs.
        statuses: The exit statuses that the demo expects.
        captured: Whether to return what it says, in the place of the terminal.

    Raises:
        StepFailedError: It is not there, took too long or ended with another status.
    """
    line = shlex.join(command)
    program = Path(sysconfig.get_path("scripts")) / command[0]
    if not program.exists():
        raise StepFailedError(f"there is no {shown_path(program)}.\n  Fix: make install")
    try:
        done = subprocess.run(
            [str(program), *command[1:]],
            cwd=folder,
            capture_output=captured,
            text=True,
            timeout=TIMEOUT,
            check=False,
            # What is captured has no colors and no line breaks of a terminal.
            env=os.environ | ({"COLUMNS": "100", "NO_COLOR": "1"} if captured else {}),
        )
    except subprocess.TimeoutExpired:
        raise StepFailedError(f"`{line}` did not end within {TIMEOUT:g} s.") from None
    ran = Ran(done.stdout or "", done.stderr or "", done.returncode)
    if ran.status not in statuses:
        said = (ran.complained or ran.said)[-SHOWN:].strip()
        ending = f", with this at the end:\n{said}" if said else "."
        raise StepFailedError(
            f"`{line}` ended with status {ran.status}, expected "
            f"{' or '.join(map(str, statuses))}{ending}"
        )
    return ran


def run(
    stage: Stage, told: Told, command: Sequence[str], folder: Path, *, captured: bool = True
) -> Ran:
    """Show and run a command, which is to end with status 0; else as `call`."""
    announce(stage, told, command, folder)
    return call(command, folder, captured=captured)
