"""Git as the tests run it."""

from __future__ import annotations

from pathlib import Path

from tests.support.processes import run_process

WHO = ("-c", "user.name=tests", "-c", "user.email=tests@localhost")


def git(folder: Path, *arguments: str) -> str:
    """Run Git in a folder; return what it prints."""
    command = ["git", *WHO, *arguments]
    done = run_process(command, cwd=folder, check=True)
    return str(done.stdout).strip()
