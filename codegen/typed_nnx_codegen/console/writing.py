"""Writes what a command has made: to a file, or to standard output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

_STANDARD_OUTPUT: Final = Path("-")

F = TypeVar("F", bound=Callable[..., Any])


def json_option(written: str) -> Callable[[F], F]:
    """Return the option ``--json [FILE]``, given to a command as ``json_file``.

    Args:
        written: What is written, for the help.
    """
    return click.option(
        "--json",
        "json_file",
        metavar="[FILE]",
        is_flag=False,
        flag_value=_STANDARD_OUTPUT,
        type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
        help=f"Write {written} as JSON; to standard output without FILE or with -.",
    )


def is_standard_output(path: Path | None) -> bool:
    """Whether a path stands for standard output: none, or ``-``."""
    return path is None or path == _STANDARD_OUTPUT


def write_text(path: Path | None, text: str) -> None:
    """Write a text to a file, or to standard output for None and ``-``.

    Raises:
        OSError: The file cannot be written.
    """
    if path is None or is_standard_output(path):
        click.echo(text.encode("utf-8", errors="backslashreplace"), nl=False)
    else:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
