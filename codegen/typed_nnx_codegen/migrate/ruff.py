"""Runs ruff, which `typed-nnx[tools]` installs."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from functools import cache
from pathlib import Path
from typing import Final


@cache
def _program() -> str | None:
    return shutil.which("ruff", path=sysconfig.get_path("scripts")) or shutil.which("ruff")


NO_RUFF: Final = (
    "ruff is not installed: code that changed is not laid out, and is not checked for names that nothing defines.\n"
    "  Fix: pip install 'typed-nnx[tools]', and run the command again"
)


def has_ruff() -> bool:
    """Whether ruff is installed."""
    return _program() is not None


def run_ruff(*arguments: str, folder: Path) -> str:
    """Return what ruff prints; nothing where it is not installed.

    Args:
        arguments: The arguments of the command.
        folder: The folder that it runs in, whose configuration it reads.
    """
    program = _program()
    if program is None:
        return ""
    done = subprocess.run((program, *arguments), cwd=folder, check=False, capture_output=True)
    return done.stdout.decode()
