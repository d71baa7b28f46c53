"""Where a check shows what it found: each part as it ends, then one table."""

from __future__ import annotations

from typing import Final

from rich.text import Text

from typed_nnx_codegen.check.outcome import CLEAN, FAILED, FINDINGS, NOTHING, Outcome, State
from typed_nnx_codegen.console.terminal import console_of, new_table, print_table
from typed_nnx_codegen.migrate.shown_text import shown_lines_of

_STYLES: Final[dict[State, str]] = {
    CLEAN: "green",
    FINDINGS: "red",
    FAILED: "bold red",
    NOTHING: "dim",
}


class Screen:
    """Shows what the parts of a check found.

    Args:
        quiet: Whether only what was found is shown.
        to_errors: Whether standard output belongs to a log.
    """

    def __init__(self, *, quiet: bool, to_errors: bool) -> None:
        self._console = console_of(to_errors=to_errors)
        self._quiet = quiet
        self._rows: list[tuple[str, Outcome, float]] = []

    def show(self, part: str, outcome: Outcome, seconds: float) -> None:
        """Show what a part found, and keep it for the table."""
        self._rows.append((part, outcome, seconds))
        if not self._quiet:
            for note in outcome.notes:
                self._say(f"{part}: {note}", "dim")
        if outcome.state == FAILED:
            self._say(f"{part}: {outcome.said}", "bold red")
        for line in outcome.lines:
            self._say(line)
        if outcome.remedy:
            # Never wrapped: a command that is copied must be whole.
            self._console.print(Text(f"  Fix: {outcome.remedy}"), soft_wrap=True)

    def show_table(self) -> None:
        """Show one row for each part that ran."""
        if self._quiet:
            return
        table = new_table("Part", "State", "What", "Time")
        table.columns[-1].justify = "right"
        table.columns[-1].no_wrap = True
        for part, outcome, seconds in self._rows:
            state = Text(outcome.state, style=_STYLES[outcome.state])
            first = outcome.said.split("\n")[0]
            table.add_row(part, state, Text(first), f"{seconds:.1f} s")
        print_table(self._console, table)

    def as_json(self) -> list[dict[str, object]]:
        """Return what each part found, for a program."""
        return [
            {
                "part": part,
                "state": outcome.state,
                "said": outcome.said,
                "lines": list(outcome.lines),
                "remedy": outcome.remedy,
                "notes": list(outcome.notes),
                "seconds": round(seconds, 3),
            }
            for part, outcome, seconds in self._rows
        ]

    def _say(self, message: str, style: str = "") -> None:
        text = Text(shown_lines_of(message), style=style)
        self._console.print(text, soft_wrap=not self._console.is_terminal)
