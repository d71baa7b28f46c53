"""Where the demo works, and what a step of it has to tell."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.padding import Padding

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PACKAGE = "digit_reader"  # the project's; the same before and after
TYPED = "typed_train.py"  # the training loop that a person writes after the migration


class StepFailedError(Exception):
    """A step did not get what it was to show; the text says why and what to do."""


class Job(NamedTuple):
    """A command that runs: its line, and its process."""

    line: str
    process: subprocess.Popen[str]

    def end(self) -> None:
        """End it, if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


@dataclass(frozen=True)
class Stage:
    """Where the demo works.

    Attributes:
        console: Where the demo tells what it does.
        out: The folder for all that it writes.
        epochs: How long each training is.
        accuracy: The share of unseen images that must be read, from 0 to 1.
        jobs: What runs beside the steps.
    """

    console: Console
    out: Path
    epochs: int
    accuracy: float
    jobs: list[Job] = field(default_factory=list)

    @property
    def linen(self) -> Path:
        """What the Linen original leaves: checkpoint, answers and curves."""
        return self.out / "linen"

    @property
    def project(self) -> Path:
        """The folder of the project that is migrated."""
        return self.out / "project"

    @property
    def package(self) -> Path:
        """The package that is migrated."""
        return self.project / PACKAGE

    def say(self, told: Told, fact: str) -> None:
        """Tell a fact, on the terminal and in the report."""
        told.facts.append(fact)
        self.console.print(Padding(fact, (0, 0, 0, 2)), markup=False)

    def write(self, name: str, text: str) -> Path:
        """Write a file of the demo, and return its path."""
        path = self.out / name
        path.write_text(text, encoding="utf-8")
        return path


@dataclass(frozen=True)
class Block:
    """A part of the report.

    Attributes:
        caption: What it is, in a line.
        html: What stands below the caption.
    """

    caption: str
    html: str


@dataclass
class Told:
    """What a step has to tell.

    Attributes:
        figures: The numbers that count, and what they are; for the head of the report.
        facts: What was done and found, a sentence each.
        blocks: The parts of the report.
        files: Files to look at, with what they are.
        commands: The command lines that were run, with the folder where.
    """

    figures: list[tuple[str, str]] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    files: dict[Path, str] = field(default_factory=dict)
    commands: list[tuple[Path, str]] = field(default_factory=list)


class Done(NamedTuple):
    """A step that was carried out."""

    title: str
    seconds: float
    told: Told
