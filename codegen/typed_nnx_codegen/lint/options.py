"""The options that say which packages the code uses and where a run keeps what it found out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from typed_nnx_codegen.completion.values import complete_folders, complete_paths

F = TypeVar("F", bound=Callable[..., Any])

CACHE: Final = ".typed_nnx_cache/lint"


def run_options(command: F) -> F:
    """Add ``--python`` and ``--cache`` to a command that runs the checks."""
    python = click.option(
        "--python",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False),
        shell_complete=complete_paths,
        help="The interpreter whose packages the code uses.",
    )
    cache = click.option(
        "--cache",
        default=CACHE,
        metavar="FOLDER",
        shell_complete=complete_folders,
        help=f"The folder of the cache; by default {CACHE}.",
    )
    return python(cache(command))
