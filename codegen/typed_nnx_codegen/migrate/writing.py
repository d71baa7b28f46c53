"""Writes files so that each of them is whole at every moment: the old text, or the new one."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from typed_nnx_codegen.migrate.repositories import GitError as GitError
from typed_nnx_codegen.migrate.repositories import dirty_files as dirty_files

# No tool takes such a file for code, and the next run knows it.
_PREFIX: Final = ".typed-nnx-migrate-"
_SUFFIX: Final = ".tmp"
# A file is there for milliseconds; one of this age was left by a run that was killed.
_SECONDS_OF_LEFTOVERS: Final = 10.0


class WriteError(OSError):
    """A file is not written; it is as it was."""


def write_atomically(path: Path, before: bytes, data: bytes) -> None:
    """Replace the bytes of a file; its mode, owner and extended attributes stay.

    The new bytes are written to a file beside it, which then takes its name. A run that is killed
    leaves the old file or the new one, and maybe that other file: the next run that writes in this
    folder removes it.

    A file with several names (hard links) is not written: the other names would keep the old bytes,
    and writing to all at once cannot be done in one step.

    Raises:
        WriteError: The file is not what it was, is a link, or cannot be written. It is untouched.
    """
    try:
        found = _checked(path, before)
        _remove_leftovers(path.parent)
        _replace(path, found, data)
    except WriteError:
        raise
    except OSError as error:
        raise WriteError(f"{path}: it cannot be written: {error.strerror or error}") from error


def put_atomically(path: Path, data: bytes) -> None:
    """Write a file that may not be there yet, whole or not at all.

    Raises:
        WriteError: It cannot be written; what was there is untouched.
    """
    try:
        if os.path.lexists(path):
            write_atomically(path, path.read_bytes(), data)
            return
        _remove_leftovers(path.parent)
        beside = path.with_name(f"{_PREFIX}{os.getpid()}-{path.name}{_SUFFIX}")
        try:
            with beside.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)
        _flush_folder(path.parent)
    except WriteError:
        raise
    except OSError as error:
        raise WriteError(f"{path}: it cannot be written: {error.strerror or error}") from error


def _checked(path: Path, before: bytes) -> os.stat_result:
    """Return the status of a file that may be written."""
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise WriteError(
            f"{path}: it is a symbolic link, which is not followed.\n"
            f"  Fix: migrate the file that it leads to, {os.path.realpath(path)}"
        )
    if not stat.S_ISREG(found.st_mode):
        raise WriteError(f"{path}: it is not a file")
    if found.st_nlink > 1:
        raise WriteError(
            f"{path}: it has {found.st_nlink} names (hard links), which would be parted.\n"
            f"  Fix: give it a copy of its own: cp {path.name} copy && mv copy {path.name}"
        )
    if not found.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise WriteError(f"{path}: it is read-only.\n  Fix: chmod u+w {path}")
    if path.read_bytes() != before:
        raise WriteError(
            f"{path}: it has changed since it was read.\n  Fix: run `typed-nnx migrate` again"
        )
    return found


def _replace(path: Path, found: os.stat_result, data: bytes) -> None:
    """Write data to a file beside the old one, and give it the name of the old one."""
    handle, name = tempfile.mkstemp(_SUFFIX, _PREFIX, path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            _copy_status(path, found, name)
            os.fsync(file.fileno())
        now = path.lstat()
        if _identity(now) != _identity(found):
            raise WriteError(
                f"{path}: it has changed while it was written.\n"
                "  Fix: run `typed-nnx migrate` again"
            )
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    _flush_folder(path.parent)


def _identity(found: os.stat_result) -> tuple[int, ...]:
    """Return what changes when somebody else writes a file."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_nlink


def _copy_status(path: Path, found: os.stat_result, name: str) -> None:
    """Give the new file the owner, mode and attributes of the old one, but its own time."""
    if hasattr(os, "chown"):
        # Only the administrator may give files away; others keep the file as theirs.
        with suppress(OSError):
            os.chown(name, found.st_uid, found.st_gid)
    shutil.copystat(path, name, follow_symlinks=False)
    # Caches and build tools go by the time.
    os.utime(name)


def _flush_folder(folder: Path) -> None:
    """Let the new name reach the disk; not all systems let a folder be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@cache
def _remove_leftovers(folder: Path) -> None:
    """Remove what a run that was killed has left in a folder; looked for once in a process."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX):
                with suppress(OSError):
                    age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                    if age > _SECONDS_OF_LEFTOVERS:
                        os.unlink(entry.path)
