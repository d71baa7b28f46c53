"""mypy, run as users run it."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from tests.support.processes import run_process


@pytest.fixture
def run_mypy() -> Callable[..., str]:
    """A function that runs mypy in the current folder and returns its standard output."""

    def run(*arguments: str) -> str:
        done = run_process(
            [sys.executable, "-m", "mypy", *arguments], capture_output=True, text=True, check=False
        )
        assert done.stderr == ""
        return done.stdout

    return run
