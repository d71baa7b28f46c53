"""What a run says at its end: a table of the rules, the decisions, the files that failed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from typed_nnx_codegen.console.terminal import print_table
from typed_nnx_codegen.migrate.findings import DECIDE, FileResult, Finding
from typed_nnx_codegen.migrate.moved_lines import MovedLines
from typed_nnx_codegen.migrate.report.run import (
    RuleCount,
    Run,
    Totals,
    counted,
    rule_counts,
    told,
    totals,
)
from typed_nnx_codegen.migrate.shown_text import lines_of, shown, shown_lines_of

_CODE: Final = re.compile(r"`([^`]*)`")
_MOST_DECISIONS: Final = 20


def print_summary(console: Console, run: Run, results: Sequence[FileResult]) -> None:
    """Print the table of the rules, what is left to a person, and the totals."""
    counts = rule_counts(run, results)
    if counts:
        print_table(console, _table(counts))
    _print_decisions(console, run, results)
    console.print(_totals_line(run, totals(results)), soft_wrap=not console.is_terminal)


def print_failures(console: Console, run: Run, results: Sequence[FileResult]) -> None:
    """Print the files that could not be migrated, and why."""
    for result in told(results):
        if result.error:
            line = Text(shown(run.shown_path(result.path)), style="bold")
            line.append(f": {shown_lines_of(result.error)}", style="not bold red")
            console.print(line, soft_wrap=True)


def prose(markdown: str) -> Text:
    """Return a line of Markdown for a terminal: code in a colour, or in its backticks without."""
    text = Text()
    end = 0
    for found in _CODE.finditer(markdown):
        text.append(markdown[end : found.start()])
        text.append(found[0], style="cyan")
        end = found.end()
    return text.append(markdown[end:])


def _table(counts: Sequence[RuleCount]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("Rule", no_wrap=True, style="bold")
    table.add_column("What it does")
    for name in ("Changed", "To decide", "Files"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in counts:
        table.add_row(
            each.rule.code,
            prose(each.rule.title),
            _number(each.changed, "green"),
            _number(each.decide, "yellow"),
            _number(each.files, ""),
        )
    return table


def _number(number: int, style: str) -> Text:
    return Text(f"{number:,}", style=style if number else "dim")


def _print_decisions(console: Console, run: Run, results: Sequence[FileResult]) -> None:
    found = list(_decisions(run, results))
    if not found:
        return
    console.print(Text("To decide", style="bold"))
    for place, message in found[:_MOST_DECISIONS]:
        if console.is_terminal:
            console.print(Padding(place, (0, 0, 0, 2)))
            console.print(Padding(message, (0, 0, 0, 4)))
        else:
            console.print(Text("  ").append_text(place), message, soft_wrap=True)
    if len(found) > _MOST_DECISIONS:
        rest = len(found) - _MOST_DECISIONS
        console.print(Text(f"  and {rest:,} more; --report html lists all", style="dim"))
    console.print()


def _decisions(run: Run, results: Sequence[FileResult]) -> Iterator[tuple[Text, Text]]:
    for result in told(results):
        open_ones = [each for each in result.findings if each.kind == DECIDE]
        # Only then do the lines of the file on the disk differ from those of the findings.
        moved = _moved(result) if open_ones and run.written and result.is_changed else None
        for each in open_ones:
            line = moved.line(each.line) if moved and not each.part else each.line
            place = _place(shown(run.shown_path(result.path)), line, each)
            yield place, prose(shown(each.message))


def _moved(result: FileResult) -> MovedLines:
    return MovedLines(lines_of(result.before), lines_of(result.after))


def _place(path: str, line: int, finding: Finding) -> Text:
    place = f"{path} part {finding.part}:{line}" if finding.part else f"{path}:{line}"
    text = Text().append(f"{place}:{finding.column + 1}", style="bold")
    return text.append(" ").append(finding.code, style="yellow")


def _totals_line(run: Run, all_of: Totals) -> Text:
    changed, files = counted(all_of.changed, "place"), counted(all_of.changed_files, "file")
    parts = [
        f"{changed} in {files} {'changed' if run.written else 'would change'}"
        if all_of.changed_files
        else "nothing to change"
    ]
    if all_of.decide:
        parts.append(f"{counted(all_of.decide, 'place')} to decide")
    if all_of.failed_files:
        parts.append(f"{counted(all_of.failed_files, 'file')} could not be migrated")
    text = Text("; ".join(parts), style="bold")
    return text.append(f" ({counted(all_of.files, 'file')} checked)", style="not bold dim")
