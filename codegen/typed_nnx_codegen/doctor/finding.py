"""One thing that was looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

OK: Final = "ok"
NOTE: Final = "note"
FIX: Final = "fix"
State = Literal["ok", "note", "fix"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        area: What it is part of: versions, backends, mypy plugin, stubs.
        name: What it is.
        state: `ok`; `note`, good to know and nothing is broken; `fix`, something is.
        found: What was found, in one line.
        remedy: The command line or the line to write that changes it; empty where nothing is
            to be changed.
    """

    area: str
    name: str
    state: State
    found: str
    remedy: str = ""
