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

from examples.linen_digits.stage import Job, Stage, StepFailedError, Told

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


def start(stage: Stage, command: Sequence[str], folder: Path, *, captured: bool = True) -> Job:
    """Start an installed command; the demo ends it at its own end, if nothing waits for it.

    Args:
        stage: The demo.
        command: Its name, and its arguments.
        folder: Where it runs.
        captured: Whether to return what it says, in place of the terminal.

    Raises:
        StepFailedError: It is not there.
    """
    program = Path(sysconfig.get_path("scripts")) / command[0]
    if not program.exists():
        raise StepFailedError(f"there is no {shown_path(program)}.\n  Fix: make install")
    pipe = subprocess.PIPE if captured else None
    process = subprocess.Popen(
        [str(program), *command[1:]],
        cwd=folder,
        stdout=pipe,
        stderr=pipe,
        text=True,
        # What is captured has no colors and no line breaks of a terminal.
        env=os.environ | ({"COLUMNS": "100", "NO_COLOR": "1"} if captured else {}),
    )
    job = Job(shlex.join(command), process)
    stage.jobs.append(job)
    return job


def wait(stage: Stage, job: Job, statuses: Sequence[int] = (0,)) -> Ran:
    """Wait for the end of a command.

    Args:
        stage: The demo.
        job: The command that runs.
        statuses: The exit statuses that the demo expects.

    Raises:
        StepFailedError: It took too long or ended with another status.
    """
    try:
        said, complained = job.process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise StepFailedError(f"`{job.line}` did not end within {TIMEOUT:g} s.") from None
    finally:
        job.end()
        stage.jobs.remove(job)
    ran = Ran(said or "", complained or "", job.process.returncode)
    if ran.status not in statuses:
        said = (ran.complained or ran.said)[-SHOWN:].strip()
        ending = f", with this at the end:\n{said}" if said else "."
        raise StepFailedError(
            f"`{job.line}` ended with status {ran.status}, expected "
            f"{' or '.join(map(str, statuses))}{ending}"
        )
    return ran


def run(
    stage: Stage, told: Told, command: Sequence[str], folder: Path, *, captured: bool = True
) -> Ran:
    """Show and run a command, which is to end with status 0; else as `wait`."""
    announce(stage, told, command, folder)
    return wait(stage, start(stage, command, folder, captured=captured))
