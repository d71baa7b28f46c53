"""The command group ``typed-nnx``. Imports click, so only :mod:`cli` may import it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import click
from click.shell_completion import CompletionItem

from typed_nnx_codegen.cli import leave_where_missing
from typed_nnx_codegen.console.bugs import DEBUG, DEBUG_OPTION
from typed_nnx_codegen.console.colours import asked_for
from typed_nnx_codegen.console.endings import ending_with_a_message, telling_of_readers
from typed_nnx_codegen.console.help_pages import WIDTH, write_examples, write_statuses
from typed_nnx_codegen.console.statuses import MEANINGS


@dataclass(frozen=True)
class _Entry:
    """A command that is imported when it is called: each needs other packages.

    Attributes:
        module: The module that it is in, under its own name.
        summary: What `--help` of the group says of it.
        needs: The packages that it needs, beside click.
    """

    module: str
    summary: str
    needs: tuple[str, ...] = ()


_MIGRATE: Final = "typed_nnx_codegen.migrate.command"
_FIRST: Final = {
    "migrate": _Entry(
        _MIGRATE,
        "Rewrite older NNX code, or flax.linen code, for typed-nnx.",
        ("libcst", "rich", "ruff"),
    ),
    "verify": _Entry(
        "typed_nnx_codegen.verify.command",
        "Compare Linen code with its migration: outputs, collections, gradients.",
    ),
    "stubs": _Entry(
        "typed_nnx_codegen.model_stubs.command",
        "Let editors complete the fields of your models' States.",
        ("mypy",),
    ),
    "rules": _Entry(
        _MIGRATE, "List the rules of migrate, with code before and after.", ("libcst", "rich")
    ),
    "lint": _Entry(
        "typed_nnx_codegen.lint.command",
        "Find mistakes with NNX, beside any type checker.",
        ("mypy", "rich"),
    ),
    "check": _Entry(
        "typed_nnx_codegen.check.command",
        "Check a project as its CI would: types, old spellings, stubs.",
        ("rich",),
    ),
    "doctor": _Entry(
        "typed_nnx_codegen.doctor.command",
        "Check this installation and this project, and say what to fix.",
        ("rich", "packaging"),
    ),
    "run": _Entry(
        "typed_nnx_codegen.run", "Run a program that imports flax.nnx on typed-nnx, unedited."
    ),
}
_MORE: Final = {
    "lsp": _Entry(
        "typed_nnx_codegen.lint.lsp_command",
        "Show in an editor what lint finds; the editor starts it.",
        ("mypy", "pygls"),
    ),
    "sarif": _Entry(
        "typed_nnx_codegen.sarif.command",
        "Convert the output of `mypy --output json` to SARIF 2.1.0.",
    ),
    "completion": _Entry(
        "typed_nnx_codegen.completion.command",
        "Print the script that lets your shell complete this command.",
    ),
}
COMMANDS: Final = {**_FIRST, **_MORE}
_EXAMPLES: Final = (
    ("typed-nnx doctor", "Check the installation and this project, and say what to fix."),
    ("typed-nnx migrate src", "Show what would change in code for older releases of flax."),
    ("typed-nnx check src", "What CI checks, with one exit code."),
)


class _Commands(click.Group):
    """The group of the commands in ``COMMANDS``."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,  # as click has it
    ) -> Any:
        """Run a command; errors of use end it with a message and a status of ours."""
        extra.setdefault("color", asked_for())
        extra["windows_expand_args"] = windows_expand_args
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, False, **extra)
        with ending_with_a_message():
            found: object = super().main(args, prog_name, complete_var, False, **extra)
            # Only what click itself ends (help, versions) returns a status here.
            sys.exit(found if isinstance(found, int) else 0)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # as click has it
    ) -> click.Context:
        """Read the command line; what it asks for at once (help, versions) is written here."""
        with telling_of_readers():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that is named."""
        with telling_of_readers():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or leave with a remedy where its packages are missing."""
        del ctx
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        leave_where_missing(entry.needs, f"typed-nnx {cmd_name}")
        return cast("click.Command", getattr(importlib.import_module(entry.module), cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is named; an unknown one is an error that names the nearest."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.NoSuchCommand(name, possibilities=list(COMMANDS), ctx=ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete names and options without importing a command."""
        names = [
            CompletionItem(name, help=entry.summary)
            for name, entry in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, without importing them, then examples, options and exit codes."""
        for title, entries in (("Commands", _FIRST), ("More commands", _MORE)):
            with formatter.section(title):
                formatter.write_dl([(name, entry.summary) for name, entry in entries.items()])
        write_examples(formatter, _EXAMPLES)
        click.Command.format_options(self, ctx, formatter)
        write_statuses(formatter, MEANINGS)


@click.group(name="typed-nnx", cls=_Commands, context_settings={"max_content_width": WIDTH})
@click.version_option(package_name="typed-nnx", prog_name="typed-nnx")
@click.option(
    DEBUG_OPTION,
    is_flag=True,
    # Who tells of a bug looks for it: it counts also where the command line cannot be read.
    expose_value=False,
    help=f"Show the traceback of a bug of typed-nnx; as {DEBUG}=1 does.",
)
def typed_nnx() -> None:
    """Tools for code on typed-nnx and flax.nnx: migrate it, check it, type it.

    `typed-nnx COMMAND --help` has examples and the exit codes of each.
    """
