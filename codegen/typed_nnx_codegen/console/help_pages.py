"""Help pages that teach: what a command is for, command lines to begin with, exit codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

WIDTH = 100


class TaughtCommand(click.Command):
    """A command whose help has examples and exit codes.

    Args:
        examples: Pairs of a command line and what it does.
        statuses: What the exit codes mean here.
        more: What click's commands take.
    """

    def __init__(
        self,
        *args: Any,  # those of click.Command
        examples: Sequence[tuple[str, str]] = (),
        statuses: Mapping[int, str] | None = None,
        **more: Any,
    ) -> None:
        more["context_settings"] = {
            "max_content_width": WIDTH,
            **(more.get("context_settings") or {}),
        }
        super().__init__(*args, **more)
        self.examples = tuple(examples)
        self.statuses = dict(statuses or {})

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples before the options and the exit codes after them."""
        write_examples(formatter, self.examples)
        super().format_options(ctx, formatter)
        write_statuses(formatter, self.statuses)


def write_examples(formatter: click.HelpFormatter, examples: Sequence[tuple[str, str]]) -> None:
    """Write command lines, each below what it does."""
    if not examples:
        return
    with formatter.section("Examples"):
        indent = " " * formatter.current_indent
        for line, what in examples:
            # Never wrapped: a line that is copied must be whole.
            formatter.write(f"{indent}$ {line}\n")
            with formatter.indentation():
                formatter.write_text(what)


def write_statuses(formatter: click.HelpFormatter, statuses: Mapping[int, str]) -> None:
    """Write what exit codes mean."""
    if not statuses:
        return
    with formatter.section("Exit codes"):
        formatter.write_dl([(str(status), meaning) for status, meaning in statuses.items()])
