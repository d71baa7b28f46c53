"""Files and folders of checkpoints: the packages that write them, numbers, checksums.

A number is written under a temporary name and renamed when it is complete, which is one step for the
file system; a folder is renamed before it is deleted. A checkpoint that has the name of a number is
whole. Folders of others may have such names too: they are neither listed nor deleted.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import os
import re
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import numpy as np
from jax.experimental import multihost_utils

from typed_nnx.errors import CheckpointDamagedError, MissingPackageError

if TYPE_CHECKING:

    class Folder(Path):
        """`etils.epath.Path`, in a file system or a bucket; it has no types that checkers follow."""

        def rmtree(self) -> None:
            """Delete the folder and all that is in it."""


Untyped: TypeAlias = Any
"""A module, or an object, of a package without types that checkers follow."""


# -- packages --------------------------------------------------------------------------------------


def orbax(function: str) -> Untyped:
    try:
        import orbax.checkpoint
    except ImportError as error:
        raise MissingPackageError(
            function, "orbax-checkpoint", "'typed-nnx[checkpoint]'"
        ) from error
    return orbax.checkpoint


def safetensors(function: str) -> Untyped:
    try:
        import safetensors
        import safetensors.numpy
    except ImportError as error:
        raise MissingPackageError(function, "safetensors", "'typed-nnx[checkpoint]'") from error
    return safetensors


def folder_of(path: str | os.PathLike[str]) -> Folder:
    """Return a path as orbax has it (`etils.epath.Path`): absolute, or in a bucket."""
    make: Untyped = importlib.import_module("etils.epath").Path
    found: Folder = make(path)
    absolute: Folder = found if "://" in str(found) else make(os.path.abspath(found))
    return absolute


@contextmanager
def quiet() -> Iterator[None]:
    """Keep orbax from logging inside the block: what matters comes back as an exception."""

    def is_of_others(record: logging.LogRecord) -> bool:
        return f"{os.sep}orbax{os.sep}" not in record.pathname

    logger = logging.getLogger("absl")
    logger.addFilter(is_of_others)  # a function of this block, so that blocks may overlap
    try:
        yield
    finally:
        logger.removeFilter(is_of_others)


# -- numbered checkpoints -------------------------------------------------------------------------

# What saves and deletions that were killed leave behind.
_LEFTOVER = re.compile(r"[0-9]+\.(orbax-checkpoint-tmp.*|typed-nnx-deleted)")

TREE_FILE = "_METADATA"
"""The file of orbax with the metadata of a tree."""

OURS = "typed_nnx"
"""The name under which we write into it."""

# Of a checkpoint whose items are no trees.
_STEP_FILE = "_CHECKPOINT_METADATA"


class Numbered:
    """A folder, which need not exist, with checkpoints by number; `prefix` stands before it in a name."""

    def __init__(self, folder: Folder, prefix: str) -> None:
        self.folder = folder
        self.prefix = prefix

    def name(self, number: int) -> Folder:
        return self.folder / f"{self.prefix}{number}"

    def complete(self) -> list[int]:
        """Return the numbers whose checkpoints are complete, in order."""
        return sorted(n for entry in self._entries() if (n := self._number_of(entry)) is not None)

    def strangers(self) -> list[str]:
        """Return the names of what is in the folder and has nothing to do with its numbers."""
        return [
            entry.name
            for entry in self._entries()
            if self._number_of(entry) is None
            and not self._is_leftover(entry.name)
            and not (self._is_number(entry.name) and _in_a_bucket(entry))  # a save that was killed
        ]

    def own(self, numbers: list[int]) -> list[int]:
        """Return the numbers whose checkpoints this library wrote."""

        def is_own(tree: Folder) -> bool:
            try:
                return OURS in (json.loads((tree / TREE_FILE).read_text())["custom_metadata"] or ())
            except (ValueError, OSError, KeyError, TypeError):
                return False

        return [number for number in numbers if any(map(is_own, trees_in(self.name(number))))]

    def clean(self) -> None:
        """Delete what killed saves and deletions left behind."""
        if jax.process_index() == 0:
            for entry in self._entries():
                if self._is_leftover(entry.name):
                    entry.rmtree()

    def delete(self, numbers: list[int]) -> None:
        """Delete checkpoints; a kill in between leaves each of them whole or gone."""
        if jax.process_index() != 0:
            return
        for number in numbers:
            doomed = self.folder / f"{self.prefix}{number}.typed-nnx-deleted"
            if doomed.exists():
                doomed.rmtree()
            self.name(number).rename(doomed).rmtree()

    def _entries(self) -> list[Folder]:
        try:
            return sorted(self.folder.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _is_number(self, name: str) -> bool:
        return name.startswith(self.prefix) and name[len(self.prefix) :].isdecimal()

    def _is_leftover(self, name: str) -> bool:
        number = name.removeprefix(self.prefix)
        return name.startswith(self.prefix) and _LEFTOVER.fullmatch(number) is not None

    def _number_of(self, entry: Folder) -> int | None:
        if not self._is_number(entry.name):
            return None
        # A bucket has no rename: there the last file that is written says that all are there.
        if _in_a_bucket(entry) and not (entry / "commit_success.txt").exists():
            return None
        if not entry.is_dir() or not ((entry / _STEP_FILE).exists() or trees_in(entry)):
            return None
        return int(entry.name[len(self.prefix) :])


def trees_in(folder: Folder) -> tuple[Folder, ...]:
    """Return the folders of the trees of a checkpoint: its items, or itself."""
    if (folder / TREE_FILE).exists():
        return (folder,)
    try:
        return tuple(sorted(e for e in folder.iterdir() if (e / TREE_FILE).exists()))
    except (FileNotFoundError, NotADirectoryError):  # deleted meanwhile
        return ()


def _in_a_bucket(entry: Folder) -> bool:
    return "://" in str(entry)


def versions(folder: Folder) -> Numbered:
    """Return the versions in the folder that `save` writes to."""
    return Numbered(folder, "version_")


def steps(folder: Folder) -> Numbered:
    """Return the steps in the folder of a manager, ours or that of orbax."""
    return Numbered(folder, "")


# -- checksums ------------------------------------------------------------------------------------

FILE = "typed_nnx_checksums.json"
ALGORITHM = "sums64-blake2b"

# A block of a file is a table of 8-byte words.
_COLUMNS = 512
_ROW = _COLUMNS * 8
_BLOCK = 512 * _ROW


def with_checksums(handler: Untyped) -> Untyped:
    """Have a handler of orbax write checksums when the files of its item are complete.

    orbax calls `finalize` in one process, before the item gets its name. The handler keeps its class,
    which orbax writes down and looks up when it reads.
    """

    def finalize(folder: Folder) -> None:
        type(handler).finalize(handler, folder)
        files = list(_files_in(folder))
        names = [file.relative_to(folder).as_posix() for file in files]
        sums = dict(zip(names, _digests(files), strict=True))
        text = json.dumps({"algorithm": ALGORITHM, "files": sums}, indent=0)
        (folder / FILE).write_text(text)

    handler.finalize = finalize
    return handler


def verify(
    function: str, path: str, folders: Sequence[Folder], only: Collection[str] | None = None
) -> None:
    """Compare the files of a checkpoint with their checksums, where it has some.

    Each process of jax reads a part of the files, and all raise if one of them found damage. `only` are the
    names of the files to read.
    """
    damage = ""
    try:
        for folder in folders:
            damage = damage or next(_damage_in(folder, only), "")
    except (ValueError, OSError, KeyError, TypeError, AttributeError) as error:
        damage = f"{FILE} cannot be read: {error}"
    if jax.process_count() > 1:
        found = multihost_utils.process_allgather(np.array(bool(damage)))
        if np.any(found):
            damage = damage or "another process found damage"
    if damage:
        raise CheckpointDamagedError(function, path, damage)


def _damage_in(folder: Folder, only: Collection[str] | None) -> Iterator[str]:
    if not (folder / FILE).exists():
        return
    known = json.loads((folder / FILE).read_text())
    if known["algorithm"] != ALGORITHM:
        yield f"{FILE} has the unknown algorithm {known['algorithm']!r}"
        return
    names = sorted(name for name in known["files"] if only is None or name in only)
    names = names[jax.process_index() :: jax.process_count()]
    files = [folder / name for name in names]
    for name, file in zip(names, files, strict=True):
        if not file.exists():
            yield f"the file {name!r} is missing"
            return
    for name, digest in zip(names, _digests(files), strict=True):
        if digest != known["files"][name]:
            yield f"the file {name!r} has other bytes than were written"


def _files_in(folder: Folder) -> Iterator[Folder]:
    for entry in sorted(folder.iterdir()):
        if entry.is_dir():
            yield from _files_in(entry)
        else:
            yield entry


def _digests(files: Sequence[Folder]) -> Iterator[list[int | str]]:
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        yield from pool.map(_digest, files)


def _digest(file: Folder) -> list[int | str]:
    """Return size and digest of a file.

    The digest is of the sums, modulo 2^64, of each row and each column of its blocks, not of the bytes:
    that is as fast as memory, and a hash of all bytes would cost a tenth of the save. What changes
    one word changes the sums of its row and its column, whatever it is.
    """
    size, digest = 0, hashlib.blake2b(digest_size=16)
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            rows = len(block) // _ROW
            table = np.frombuffer(block, "<u8", count=rows * _COLUMNS).reshape(rows, _COLUMNS)
            digest.update(table.sum(axis=0, dtype=np.uint64).tobytes())
            digest.update(table.sum(axis=1, dtype=np.uint64).tobytes())
            digest.update(block[rows * _ROW :])
            size += len(block)
    return [size, digest.hexdigest()]
