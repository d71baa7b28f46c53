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
        ("typed-nnx lsp", "What an editor starts; it talks over standard input and output."),
        (
            "typed-nnx lsp --python .venv/bin/python",
            "Installed apart from the project, whose packages are in that environment.",
        ),
    ),
    statuses={OK: "the editor ended it", COULD_NOT_RUN: "a missing package, or wrong use"},
)
@click.option("--stdio", is_flag=True, help="What it does in any case; some editors say it.")
@run_options
@click.option(
    "--time-limit",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=_LIMIT,
    show_default=True,
    help="How long a check may take; one that hangs is stopped.",
)
def lsp(stdio: bool, python: str | None, cache: str, time_limit: float) -> None:
    """Serve an editor what `typed-nnx lint` finds, beside the server of your type checker.

    When a file is opened or saved the project is checked, as `typed-nnx lint` checks it: reports
    appear at their lines, with quick fixes where what to write is certain. Hovering over a State
    shows its tree. Where the project has the overlay of `typed-nnx stubs`, it is kept current.

    The page docs/lint.md says what to write in the settings of an editor.
    """
    del stdio
    # By name: it brings mypy and pygls, which the help does without.
    server: Any = importlib.import_module("typed_nnx_codegen.lint.server")
    # From the folder of the project, wherever that is.
    whole = None if python is None else str(Path(python).absolute())
    server.NnxServer(whole, Path(cache), time_limit).serve()
