"""mypy, run as users run it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest


@pytest.fixture
def run_mypy() -> Callable[..., str]:
    """A function that runs mypy in the current folder and returns its standard output."""

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "mypy", *arguments], capture_output=True, text=True, check=False
        )
        assert done.stderr == ""
        return done.stdout

    return run
