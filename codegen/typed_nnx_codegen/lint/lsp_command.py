"""The command ``typed-nnx lsp``."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, Final

import click

from typed_nnx_codegen.console.help_pages import TaughtCommand
from typed_nnx_codegen.console.statuses import COULD_NOT_RUN, OK
from typed_nnx_codegen.lint.options import run_options

_LIMIT: Final = 600.0


@click.command(
    name="lsp",
    cls=TaughtCommand,
    examples=(
        ("typed-nnx lsp", "The command for an editor; it uses standard input and output."),
        (
            "typed-nnx lsp --python .venv/bin/python",
            "If it is installed in another environment than the project.",
        ),
    ),
    statuses={OK: "the editor ended it", COULD_NOT_RUN: "a missing package, or wrong use"},
)
@click.option("--stdio", is_flag=True, help="Accepted because some editors pass it; has no effect.")
@run_options
@click.option(
    "--time-limit",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=_LIMIT,
    show_default=True,
    help="Time limit of a check; one that hangs is stopped.",
)
def lsp(stdio: bool, python: str | None, cache: str, time_limit: float) -> None:
    """Show in an editor what `typed-nnx lint` finds, next to the server of your type checker.

    Checks the project when a file is opened or saved: reports appear at their lines, with quick
    fixes if the fix is certain. Hovering over a State shows its fields. If the project has the
    overlay of `typed-nnx stubs`, it is kept up to date.

    docs/lint.md has the settings of editors.
    """
    del stdio
    # By name: it brings mypy and pygls, which the help does without.
    server: Any = importlib.import_module("typed_nnx_codegen.lint.server")
    # From the folder of the project, wherever that is.
    whole = None if python is None else str(Path(python).absolute())
    server.NnxServer(whole, Path(cache), time_limit).serve()
