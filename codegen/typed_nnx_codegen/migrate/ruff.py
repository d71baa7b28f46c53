"""Runs ruff, which `typed-nnx[tools]` installs."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from functools import cache
from pathlib import Path


@cache
def _program() -> str | None:
    return shutil.which("ruff", path=sysconfig.get_path("scripts")) or shutil.which("ruff")


def run_ruff(*arguments: str, text: str = "", folder: Path | None = None) -> str | None:
    """Return what ruff prints; None where it is not installed.

    Args:
        arguments: The arguments of the command.
        text: What it reads from its input.
        folder: The folder that it runs in, whose configuration it reads.
    """
    program = _program()
    if program is None:
        return None
    done = subprocess.run(
        (program, *arguments), input=text.encode(), cwd=folder, check=False, capture_output=True
    )
    return done.stdout.decode()
