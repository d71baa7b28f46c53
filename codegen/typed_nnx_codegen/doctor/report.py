"""The findings as a table, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from typed_nnx_codegen.console.terminal import new_table, print_table
from typed_nnx_codegen.doctor.finding import FIX, NOTE, OK, Finding, State
from typed_nnx_codegen.migrate.shown_text import shown

_STYLES: Final[dict[State, str]] = {OK: "green", NOTE: "yellow", FIX: "bold red"}


def print_findings(console: Console, findings: Sequence[Finding], *, quiet: bool) -> None:
    """Print a table with a line for each finding, then what to do.

    Args:
        console: Where it goes.
        findings: What was found.
        quiet: Whether only what is to be fixed is shown.
    """
    listed = [each for each in findings if each.state == FIX] if quiet else list(findings)
    if listed:
        table = new_table("", "", "")
        table.box, table.show_header = None, False
        table.columns[0].no_wrap = True
        area = ""
        for each in listed:
            if each.area != area:
                area = each.area
                if table.row_count:
                    table.add_row()
                table.add_row(Text(area, style="bold"))
            state = Text(each.state, style=_STYLES[each.state])
            table.add_row(Text(f"  {each.name}"), state, Text(shown(each.found)))
        print_table(console, table)
        console.print()
    _print_remedies(console, "To fix", [each for each in findings if each.state == FIX])
    if quiet:
        return
    notes = [each for each in findings if each.state == NOTE and each.remedy]
    _print_remedies(console, "If you want it", notes)
    broken = sum(each.state == FIX for each in findings)
    said = f"{broken} thing{'' if broken == 1 else 's'} to fix" if broken else "nothing to fix"
    console.print(Text(said, style="bold red" if broken else "bold green"))


def _print_remedies(console: Console, title: str, findings: Sequence[Finding]) -> None:
    if not findings:
        return
    console.print(Text(f"{title}:", style="bold"))
    for each in findings:
        line = Text(f"  {each.name}: ")
        line.append(shown(each.remedy), style="cyan")
        # Never wrapped: a command that is copied must be whole.
        console.print(line, soft_wrap=True)
    console.print()


def findings_as_json(findings: Sequence[Finding]) -> str:
    """Return the findings as JSON: whether all is well, and a list of objects."""
    said = {
        "version": 1,
        "ok": all(each.state != FIX for each in findings),
        "findings": [each.as_json() for each in findings],
    }
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"
