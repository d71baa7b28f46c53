"""The options that say where paths in a log begin and where its rules are described."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def log_options(command: F) -> F:
    """Add ``--root`` and ``--docs`` to a command that writes a log."""
    root = click.option(
        "--root",
        default=".",
        metavar="FOLDER",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="The root of the repository, for paths in the log; by default this folder.",
    )
    docs = click.option(
        "--docs", default="", metavar="URL", help="The web page of docs/mypy-plugin.md."
    )
    return root(docs(command))
