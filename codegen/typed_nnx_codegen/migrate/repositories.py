"""What Git knows of files: which of them have no other copy than the one on disk."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

# Set by Git in its hooks; with them it would look at another repository than the one we ask for.
_FOREIGN: Final = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")


class GitError(OSError):
    """Git cannot say what has changed in a repository."""


def dirty_files(paths: Iterable[Path]) -> set[Path]:
    """Return the files whose present text is not in a commit.

    These are the changed ones, and also those that Git does not track or ignores: there is no other
    copy of them. Files outside of repositories are not in the set, nor is any file without Git.

    Raises:
        GitError: Git is there, but does not answer for a repository.
    """
    git = shutil.which("git")
    if git is None:
        return set()
    dirty: set[Path] = set()
    for top, files in _by_repository(paths).items():
        # The first asks for what is tracked, the second for what of it has changed.
        tracked = set(_ask(git, top, "ls-files", "-z"))
        changed = set(_status(_ask(git, top, *_STATUS)))
        dirty |= {path for path, name in files.items() if name not in tracked or name in changed}
    return dirty


_STATUS: Final = (
    *("status", "--porcelain=v1", "-z", "--untracked-files=no"),
    *("--no-renames", "--ignore-submodules=all"),
)


def _by_repository(paths: Iterable[Path]) -> Mapping[Path, Mapping[Path, str]]:
    """Return for each repository the files in it, each with its name there."""
    tops: dict[Path, Path | None] = {}
    found: defaultdict[Path, dict[Path, str]] = defaultdict(dict)
    for path in paths:
        whole = Path(os.path.realpath(path.parent)) / path.name
        top = _top(whole.parent, tops)
        if top is not None:
            found[top][path] = whole.relative_to(top).as_posix()
    return found


def _top(folder: Path, known: dict[Path, Path | None]) -> Path | None:
    """Return the top of the repository that a folder is in."""
    if folder not in known:
        if (folder / ".git").exists():
            known[folder] = folder
        else:
            known[folder] = None if folder.parent == folder else _top(folder.parent, known)
    return known[folder]


def _status(entries: Iterable[str]) -> Iterable[str]:
    """Return the files in the answer of ``git status``: two letters and a space are in front."""
    return (entry[3:] for entry in entries)


def _ask(git: str, top: Path, *arguments: str) -> list[str]:
    """Return the answer of Git, which has a null byte behind each entry."""
    environment = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    # No locks are taken, and no program that the repository names for watching files is run.
    command = [git, "--no-optional-locks", "-c", "core.fsmonitor=false", *arguments]
    done = subprocess.run(command, cwd=top, env=environment, capture_output=True, check=False)
    if done.returncode:
        said = os.fsdecode(done.stderr).strip()
        raise GitError(
            f"{top}: git cannot say which files have changes: {said}\n"
            "  Fix: make `git status` work there, or give --allow-dirty"
        )
    return [os.fsdecode(entry) for entry in done.stdout.split(b"\0") if entry]
