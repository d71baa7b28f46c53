"""The overlay as files: written whole or not at all, and compared class by class."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

NAME = "typed_nnx_models.pyi"
# The module that defines `jax.tree.map`, which has no types in jax.
TREE = "jax/_src/tree.pyi"
# For mypy's `exclude`: what is written must not be read as a source of models.
EXCLUDED = rf"(^|/)({re.escape(NAME)}|{re.escape(TREE)})$"

_CLASS = re.compile(r"^class (\w+)", re.MULTILINE)
_HEAD = "the first lines"


def read_overlay(path: Path) -> str | None:
    """Return the text of the overlay, or None where there is none."""
    try:
        # Bytes that are no UTF-8 are another text than any overlay; the file is written anew.
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return None


def write_overlay(files: Mapping[Path, str]) -> bool:
    """Put texts into files and return whether one was another before.

    Each file is replaced in one step, so that an editor or a failure never meets half of it; an
    unchanged one keeps its time.
    """
    written = [_write(path, text) for path, text in files.items()]
    return any(written)


def _write(path: Path, text: str) -> bool:
    if read_overlay(path) == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    return True


def differing_classes(old: str, new: str) -> list[str]:
    """Return the names of the classes that differ, sorted; other text is ``the first lines``."""
    before, after = _classes(old), _classes(new)
    names = before.keys() | after.keys()
    return sorted(name for name in names if before.get(name) != after.get(name))


def _classes(text: str) -> dict[str, str]:
    starts = [*_CLASS.finditer(text)]
    ends = [*(start.start() for start in starts), len(text)][1:]
    head = text[: starts[0].start()] if starts else text
    bodies = {start[1]: text[start.start() : end] for start, end in zip(starts, ends, strict=True)}
    return {_HEAD: head, **bodies}
