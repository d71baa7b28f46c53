"""One thing that was looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
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
        repair: Does what the remedy says, in the project alone; None where a person has to.
    """

    area: str
    name: str
    state: State
    found: str
    remedy: str = ""
    repair: Callable[[], object] | None = field(default=None, compare=False, repr=False)

    def as_json(self) -> dict[str, object]:
        """Return what there is to know of it, for a program."""
        names = ("area", "name", "state", "found", "remedy")
        return {**{name: getattr(self, name) for name in names}, "fixable": self.repair is not None}
