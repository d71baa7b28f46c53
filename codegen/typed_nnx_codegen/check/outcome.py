"""What a part of a check is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

CLEAN: Final = "clean"
FINDINGS: Final = "findings"
FAILED: Final = "could not run"
NOTHING: Final = "nothing to check"
State = Literal["clean", "findings", "could not run", "nothing to check"]


@dataclass(frozen=True)
class Scope:
    """What is to be checked.

    Attributes:
        paths: The files and folders; none for what the settings say, or else the folder.
        folder: Where the command runs.
        root: Where paths in a SARIF log begin.
        target: The runtime that the code is to run on; None for what the settings say.
        python: The interpreter whose packages the code uses; None for the running one.
        jobs: How many processes may work.
        docs: The address of docs/mypy-plugin.md as a web page; empty where there is none.
    """

    paths: tuple[Path, ...]
    folder: Path
    root: Path
    target: Literal["typed_nnx", "flax.nnx"] | None = None
    python: str | None = None
    jobs: int = 1
    docs: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a part of a check found.

    Attributes:
        state: How it ended.
        said: That in words, one line for the table.
        lines: What was found, each with its place.
        remedy: What to do about it, a command line or a line to write; empty where lines say it.
        notes: What else there is to know of the run.
        log: The same as a SARIF log of one run; None where there is nothing to tell.
    """

    state: State
    said: str
    lines: tuple[str, ...] = ()
    remedy: str = ""
    notes: tuple[str, ...] = ()
    log: Mapping[str, object] | None = None
