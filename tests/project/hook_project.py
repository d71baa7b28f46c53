"""A project in a git repository of its own, with the hooks that this repository offers to pre-commit."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.support.git import git
from tests.support.processes import run_process

REPOSITORY = Path(__file__).parents[2]
MANIFEST = REPOSITORY / ".pre-commit-hooks.yaml"

# What an override of a hook says to have it run in the environment at hand.
HERE = {"language": "system", "additional_dependencies": []}


# Not those that the person has for all repositories.
NO_HOOKS = ("-c", "core.hooksPath=")


def commit_all(folder: Path) -> str:
    """Commit what a folder holds; return the commit."""
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", "--all")
    git(folder, *NO_HOOKS, "commit", "--quiet", "--message", "state", "--allow-empty")
    return git(folder, "rev-parse", "HEAD")


def hooks_only(folder: Path) -> Path:
    """Make a repository that offers the hooks and has nothing to install."""
    folder.mkdir()
    shutil.copy(MANIFEST, folder)
    commit_all(folder)
    return folder


def whole_tree(folder: Path) -> Path:
    """Make a repository with every file of this one that git does not ignore."""
    listed = git(REPOSITORY, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    for name in filter(None, listed.split("\0")):
        source = REPOSITORY / name
        if source.is_file():  # a file that is deleted and not yet committed is listed too
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, folder / name)
    commit_all(folder)
    return folder


@dataclass(frozen=True)
class HookProject:
    """A project that uses the hooks.

    Attributes:
        folder: Its folder, the root of a git repository.
        home: Where pre-commit keeps its environments.
    """

    folder: Path
    home: Path

    def configure(self, hooks: Path, *wanted: dict[str, Any]) -> None:
        """Write the configuration: these hooks of that repository."""
        repository = {"repo": str(hooks), "rev": git(hooks, "rev-parse", "HEAD"), "hooks": wanted}
        text = yaml.safe_dump({"repos": [{**repository, "hooks": list(wanted)}]})
        self.write(".pre-commit-config.yaml", text)

    def write(self, name: str, text: str) -> None:
        """Write a file of the project."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, hook: str) -> tuple[bool, str]:
        """Run a hook on every file, as a commit would; tell whether it passed, and what it said."""
        commit_all(self.folder)
        tools = Path(sys.executable).parent
        done = run_process(
            [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color=never", hook],
            cwd=self.folder,
            env={
                **os.environ,
                "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
                "PRE_COMMIT_HOME": str(self.home),
            },
            timeout=900,
        )
        return done.returncode == 0, done.stdout + done.stderr


def assert_pre_commit_reads(text: str, folder: Path) -> None:
    """Check that pre-commit takes a configuration."""
    path = folder / ".pre-commit-config.yaml"
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pre_commit", "validate-config", str(path)]
    # In a home of its own: where two processes make one for the first time, the second says that it waits.
    own = {**os.environ, "PRE_COMMIT_HOME": str(folder / "home")}
    done = run_process(command, env=own)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
