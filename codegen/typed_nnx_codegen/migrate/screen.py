"""Where a run shows what it does: standard output, standard error, and a bar while it works."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import click
from rich.text import Text

from typed_nnx_codegen.console.terminal import console_of, working
from typed_nnx_codegen.migrate.diff import coloured_patch_of, patch_of
from typed_nnx_codegen.migrate.findings import FileResult
from typed_nnx_codegen.migrate.report.run import Run
from typed_nnx_codegen.migrate.shown_text import shown, shown_lines_of
from typed_nnx_codegen.migrate.summary import print_failures, print_summary


class Screen:
    """Shows a run to a person, and gives other programs the diff alone.

    Standard output has one thing only: a report, the diff, or else the summary. What it does not
    have is on standard error.

    Args:
        quiet: Whether only what went wrong is shown.
        diff: Whether the diff is shown.
        report_on_output: Whether a report is written to standard output.
    """

    def __init__(self, *, quiet: bool, diff: bool, report_on_output: bool) -> None:
        self._quiet = quiet
        self._diff = diff and not quiet and not report_on_output
        self._errors = console_of(to_errors=True)
        taken = self._diff or report_on_output
        self._summary = self._errors if taken else console_of()

    def progress(self, total: int) -> AbstractContextManager[Callable[[float], None]]:
        """Show a bar; the function that is given moves it on by some files, or a part of one."""
        return working("migrating", total, quiet=self._quiet)

    def show_diffs(self, results: Sequence[FileResult], folder: Path) -> None:
        """Show the diffs of the files that change: coloured for a person, as they are otherwise."""
        if not self._diff:
            return
        console = console_of()
        for result in results:
            if not result.is_changed:
                continue
            if console.is_terminal:
                console.print(coloured_patch_of(result, folder), end="", soft_wrap=True)
            else:
                click.echo(patch_of(result, folder), nl=False)

    def show_summary(self, run: Run, results: Sequence[FileResult]) -> None:
        """Show what was found."""
        if not self._quiet:
            print_summary(self._summary, run, results)

    def show_failures(self, run: Run, results: Sequence[FileResult]) -> None:
        """Show the files that could not be migrated, on standard error."""
        print_failures(self._errors, run, results)

    def print_report(self, text: str) -> None:
        """Write a report to standard output, as it is."""
        click.echo(text.encode(errors="backslashreplace"), nl=False)

    def complain(self, message: str) -> None:
        """Say on standard error what went wrong."""
        self._errors.print(Text(shown_lines_of(message), style="red"), soft_wrap=True)

    def say(self, message: str) -> None:
        """Say one line beside the summary; nothing where it is empty."""
        if message and not self._quiet:
            self._summary.print(Text(shown(message)), soft_wrap=True)
