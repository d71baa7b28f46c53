"""Finds the files to migrate below the paths that a person names."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SUFFIXES: Final = (".py", ".pyi", ".ipynb", ".md", ".rst")
_GENERATED_NAMES: Final = ("_pb2.py", "_pb2.pyi", "_pb2_grpc.py", "_pb2_grpc.pyi")
_TOOL_FOLDERS: Final = frozenset(
    {
        *(".git", ".hg", ".svn", ".bzr", ".jj", ".tox", ".nox", ".eggs", ".direnv", ".pixi"),
        *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".pytype", ".pyre"),
        *(".ipynb_checkpoints", ".typed_nnx_cache", "__pycache__", "__pypackages__"),
        *("node_modules", "site-packages"),
    }
)
_PROJECT_FILES: Final = ("pyproject.toml", "setup.py", "setup.cfg")
SYMLINK: Final = "a symbolic link, which is not followed"
GENERATED: Final = "generated"


class DiscoveryError(OSError):
    """A path that a person names is not there."""


@dataclass(frozen=True)
class Skipped:
    """A file or folder that is not looked at.

    Attributes:
        path: Where it is.
        reason: Why.
    """

    path: Path
    reason: str


@dataclass(frozen=True)
class Discovery:
    """The files to migrate.

    Attributes:
        files: The files, folder by folder; the order depends on names only.
        skipped: What was left out, and why.
    """

    files: tuple[Path, ...]
    skipped: tuple[Skipped, ...]


def find_files(roots: Sequence[Path]) -> Discovery:
    """Find the files to migrate below files and folders.

    No file is opened: what the header of a file says is looked at when the file is read
    (:mod:`~typed_nnx_codegen.migrate.files`). A file or folder that is named itself is taken
    whatever its name is, but not if it is a symbolic link.

    Raises:
        DiscoveryError: A root does not exist.
    """
    walk = _Walk()
    for root in roots:
        walk.add_root(root)
    return Discovery(tuple(walk.files), tuple(walk.skipped))


class _Walk:
    """Collects files; what two roots share is taken once."""

    def __init__(self) -> None:
        self.files: list[Path] = []
        self.skipped: list[Skipped] = []
        self._taken: set[str] = set()

    def add_root(self, root: Path) -> None:
        """Add what a person named."""
        if root.is_symlink():
            self.skip(str(root), SYMLINK)
        elif root.is_dir():
            self._add_folders(str(root))
        elif root.is_file():
            self._take(str(root))
        else:
            raise DiscoveryError(
                f"{root}: there is no such file or folder (from {Path.cwd()}).\n"
                "  Fix: name files or folders that exist, such as `typed-nnx migrate src`"
            )

    def skip(self, path: str, reason: str) -> None:
        """Remember what is left out."""
        self.skipped.append(Skipped(Path(path), reason))

    def _take(self, path: str) -> None:
        """Take a file, once."""
        whole = os.path.abspath(path)
        if whole not in self._taken:
            self._taken.add(whole)
            self.files.append(Path(path))

    def _add_folders(self, root: str) -> None:
        """Take the files of a folder, then those of the folders in it."""
        waiting = [root]
        while waiting:
            folder = waiting.pop()
            entries = self._entries(folder)
            reason = _why_not(folder, entries) if folder != root else ""
            if reason:
                self.skip(folder, reason)
                continue
            folders = [entry.path for entry in entries if self._is_folder(entry)]
            waiting += reversed(folders)

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        """Return what is in a folder, by name."""
        try:
            with os.scandir(folder) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self.skip(folder, f"it cannot be read: {error.strerror or error}")
            return []

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        """Take a file; return whether the entry is a folder to look into."""
        is_source = entry.name.lower().endswith(SUFFIXES)
        if entry.is_symlink():
            if is_source or entry.is_dir():
                self.skip(entry.path, SYMLINK)
            return False
        if entry.is_dir(follow_symlinks=False):
            return True
        if is_source and entry.is_file(follow_symlinks=False):
            if entry.name.endswith(_GENERATED_NAMES):
                self.skip(entry.path, GENERATED)
            else:
                self._take(entry.path)
        return False


def _why_not(folder: str, entries: Sequence[os.DirEntry[str]]) -> str:
    """Return why a folder is not looked into; empty where it is."""
    name = os.path.basename(folder)
    inside = {entry.name for entry in entries}
    if name in _TOOL_FOLDERS:
        return "a folder of Git or another tool"
    if name == ".venv" or "pyvenv.cfg" in inside or "conda-meta" in inside:
        return "a virtual environment"
    if name.endswith((".egg-info", ".dist-info")) and inside & {"PKG-INFO", "METADATA"}:
        return GENERATED
    is_output = _OUTPUT.get(name)
    return GENERATED if is_output and is_output(os.path.dirname(folder), inside) else ""


def _is_built(parent: str, inside: set[str]) -> bool:
    """Whether a folder ``build`` is where setuptools works; others have their own code in it."""
    works = any(name == "lib" or name.startswith(("lib.", "bdist.", "temp.")) for name in inside)
    return works and any(os.path.isfile(os.path.join(parent, name)) for name in _PROJECT_FILES)


def _is_packed(parent: str, inside: set[str]) -> bool:
    """Whether a folder ``dist`` has built packages in it."""
    del parent
    return any(name.endswith((".whl", ".tar.gz")) for name in inside)


def _is_rendered(parent: str, inside: set[str]) -> bool:
    """Whether a folder ``_build`` is where Sphinx writes."""
    del parent
    return bool(inside & {"html", "doctrees", ".doctrees", "dirhtml", "latex", "jupyter_execute"})


_OUTPUT: Final[dict[str, Callable[[str, set[str]], bool]]] = {
    "build": _is_built,
    "dist": _is_packed,
    "_build": _is_rendered,
}
