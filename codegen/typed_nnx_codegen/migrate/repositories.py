"""What Git knows of files: which it ignores, which have no other copy than the one on disk."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
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


def ignored_files(paths: Iterable[Path]) -> set[Path]:
    """Return the files that Git ignores: none without Git, or where it does not answer."""
    git = shutil.which("git")
    if git is None:
        return set()
    ignored: set[Path] = set()
    for top, files in _by_repository(paths).items():
        try:
            # A folder that is ignored as a whole is one entry, with a slash at its end.
            entries = _ask(git, top, "ls-files", "-z", *_IGNORED)
        except GitError:
            continue
        folders = tuple(entry for entry in entries if entry.endswith("/"))
        names = set(entries)
        ignored |= {
            path for path, name in files.items() if name in names or name.startswith(folders)
        }
    return ignored


_IGNORED: Final = ("--others", "--ignored", "--exclude-standard", "--directory")
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
    overrides = {**_HARMLESS, **_without_filters(git, top)}
    return _run(git, top, arguments, overrides)


# A checkout may be another's: its configuration names programs that Git would run for us.
_HARMLESS: Final = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "core.sshCommand": "false",
    "core.askPass": "false",
    "credential.helper": "",
    "diff.external": "",
    # A clone may lack objects, and Git would fetch them.
    "protocol.allow": "never",
}
_ENVIRONMENT: Final = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}


def _without_filters(git: str, top: Path) -> Mapping[str, str]:
    """Return settings without the filters that the repository itself defines, in full or in part.

    Git runs them to see whether a file has changed. Without one a file that was touched counts as
    changed where its text on disk is another than in the commit, which is so. Filters that the user
    set up for all repositories stay.
    """
    listed = _run(
        git,
        top,
        ("config", "-z", "--show-scope", "--name-only", "--get-regexp", r"^filter\."),
        _HARMLESS,
        nothing=1,
    )
    scopes, names = listed[::2], listed[1::2]
    found: dict[str, str] = {}
    for scope, name in zip(scopes, names, strict=True):
        if scope in ("local", "worktree"):
            driver = name.rpartition(".")[0]
            found |= {f"{driver}.clean": "", f"{driver}.smudge": "", f"{driver}.process": ""}
            found[f"{driver}.required"] = "false"
    return found


def _run(
    git: str, top: Path, arguments: Sequence[str], overrides: Mapping[str, str], *, nothing: int = 0
) -> list[str]:
    """Run Git with settings that override those of the repository.

    Args:
        git: The program.
        top: The top of the repository.
        arguments: What it is to do.
        overrides: The settings; in the environment, where a name may have any character.
        nothing: The exit status that says that there is nothing, besides 0.

    Raises:
        GitError: It fails.
    """
    kept = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    first = int(kept.get("GIT_CONFIG_COUNT") or 0)
    for number, (name, value) in enumerate(overrides.items(), start=first):
        kept[f"GIT_CONFIG_KEY_{number}"], kept[f"GIT_CONFIG_VALUE_{number}"] = name, value
    kept["GIT_CONFIG_COUNT"] = str(first + len(overrides))
    command = [git, "--no-pager", "--no-optional-locks", *arguments]
    done = subprocess.run(
        command, cwd=top, env=kept | _ENVIRONMENT, capture_output=True, check=False
    )
    if done.returncode not in (0, nothing):
        said = os.fsdecode(done.stderr).strip()
        raise GitError(
            f"{top}: git cannot say which files have changes: {said}\n"
            "  Fix: make `git status` work there, or give --allow-dirty"
        )
    return [os.fsdecode(entry) for entry in done.stdout.split(b"\0") if entry]
