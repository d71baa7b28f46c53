"""Checksums of the files of a checkpoint: written after its data, compared when it is read.

orbax compresses arrays without a checksum, and a flipped bit comes back as another number. So each
item of a checkpoint (its ``default``, its ``metrics``) has one more file, with size and digest of every
other. It is written before the folder gets its name: a checkpoint of ours without it is an older one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils

from typed_nnx.errors import CheckpointDamagedError

FILE = "typed_nnx_checksums.json"
ALGORITHM = "sums64-blake2b"

# A block of a file is a table of 8-byte words.
_COLUMNS = 512
_ROW = _COLUMNS * 8
_BLOCK = 512 * _ROW

# Paths are `etils.epath.Path`, which has no types that checkers follow: Any.


def with_checksums(handler: Any) -> Any:
    """Have a handler of orbax write checksums when the files of its item are complete.

    orbax calls `finalize` in one process, before the item gets its name. The handler keeps its class,
    which orbax writes down and looks up when it reads.
    """

    def finalize(folder: Any) -> None:
        type(handler).finalize(handler, folder)
        files = _files_in(folder)
        sums = dict(zip(_names(folder, files), _digests(files), strict=True))
        text = json.dumps({"algorithm": ALGORITHM, "files": sums}, indent=0)
        (folder / FILE).write_text(text)

    handler.finalize = finalize
    return handler


def verify(
    function: str, path: str, folders: Sequence[Any], only: Collection[str] | None = None
) -> None:
    """Compare the files of a checkpoint with their checksums, where it has some.

    Each process of jax reads a part of the files, and all raise if one of them found damage.

    Args:
        function: The function that was called.
        path: The path of the checkpoint, for errors.
        folders: The folders of its items.
        only: The names of the files to read; None for all.

    Raises:
        CheckpointDamagedError: A file is missing or has other bytes.
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


def _damage_in(folder: Any, only: Collection[str] | None) -> Iterator[str]:
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


def _files_in(folder: Any) -> list[Any]:
    files: list[Any] = []
    for entry in sorted(folder.iterdir()):
        files += _files_in(entry) if entry.is_dir() else [entry]
    return files


def _names(folder: Any, files: Iterable[Any]) -> list[str]:
    return [file.relative_to(folder).as_posix() for file in files]


def _digests(files: Sequence[Any]) -> Iterator[list[Any]]:
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        yield from pool.map(_digest, files)


def _digest(file: Any) -> list[Any]:
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
