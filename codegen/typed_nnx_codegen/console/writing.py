"""Writes what a command has made: to a file, or to standard output."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

_STANDARD_OUTPUT: Final = Path("-")


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
