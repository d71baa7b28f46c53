"""Linen variables from where they are: a mapping, msgpack, or an orbax checkpoint."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import jax
import numpy as np

from typed_nnx_codegen.migrate.weights.problems import WeightsError

# A mapping by collection, the path of a checkpoint folder or msgpack file, or msgpack bytes.
Source: TypeAlias = Mapping[str, Any] | str | os.PathLike[str] | bytes

_EXPECTED = """\
  Fix: what `init` returned, by collection: {"params": {...}, "batch_stats": {...}}; or the path of an
    orbax checkpoint folder, the path of a msgpack file, or the bytes of flax.serialization.to_bytes"""


def read(source: Source) -> dict[str, Any]:
    """Read Linen variables.

    Args:
        source: What `init` returned, boxed or not; or the path of an orbax checkpoint folder, the
            path of a msgpack file of flax.serialization, or its bytes.

    Returns:
        Nested dicts, by collection first.

    Raises:
        WeightsError: There is nothing of this kind, or what is there is no mapping.
    """
    if isinstance(source, Mapping):
        found: object = source
    elif isinstance(source, bytes | bytearray | memoryview):
        found = _from_msgpack(bytes(source), "the bytes")
    elif isinstance(source, str | os.PathLike):
        found = _from_path(Path(source))
    else:
        raise WeightsError(f"load: found a {type(source).__name__}.\n{_EXPECTED}")
    if not isinstance(found, Mapping):
        raise WeightsError(f"load: found a {type(found).__name__} of values.\n{_EXPECTED}")
    return dict(found)


def _from_path(path: Path) -> object:
    if path.is_dir():
        return _from_orbax(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise WeightsError(f"load: {path}: {error.strerror}.\n{_EXPECTED}") from error
    return _from_msgpack(data, str(path))


def _from_msgpack(data: bytes, where: str) -> object:
    try:
        from flax import serialization
    except ImportError as error:
        raise WeightsError(
            f"load: {where}: msgpack needs flax.\n  Fix: pip install flax"
        ) from error
    try:
        return serialization.msgpack_restore(data)
    # msgpack has errors of many types for bytes that are none of its own.
    except Exception as error:
        raise WeightsError(
            f"load: {where}: no msgpack of flax: {_first(error)}.\n{_EXPECTED}"
        ) from error


def _from_orbax(folder: Path) -> object:
    try:
        import orbax.checkpoint as orbax
    except ImportError as error:
        raise WeightsError(
            f"load: {folder}: a checkpoint folder needs orbax.\n"
            "  Fix: pip install 'typed-nnx[checkpoint]'"
        ) from error
    folder = _item_of(folder.absolute())
    try:
        with orbax.PyTreeCheckpointer() as checkpointer:
            stored = checkpointer.metadata(folder).item_metadata
            # As numpy arrays: the devices of the machine that saved them need not be here.
            numpy = jax.tree.map(lambda _: orbax.RestoreArgs(restore_type=np.ndarray), stored)
            return checkpointer.restore(folder, restore_args=dict(numpy))
    # orbax has errors of many types for folders that are none of its own.
    except Exception as error:
        raise WeightsError(
            f"load: {folder}: no orbax checkpoint: {_first(error)}.\n{_EXPECTED}"
        ) from error


def _item_of(folder: Path) -> Path:
    """Return the folder with the arrays where a manager keeps steps and items."""
    if (folder / "_METADATA").exists():
        return folder
    inside = [each for each in folder.iterdir() if each.is_dir()]
    items = [each for each in inside if (each / "_METADATA").exists()]
    if len(items) == 1:
        return items[0]
    steps = sorted((each for each in inside if each.name.isdecimal()), key=lambda s: int(s.name))
    if steps and not items:
        return _item_of(steps[-1])
    if items:
        names = sorted(each.name for each in items)
        raise WeightsError(f"load: {folder}: it has the items {names}.\n  Fix: the path of one")
    return folder


def _first(error: Exception) -> str:
    lines = f"{error}".strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
