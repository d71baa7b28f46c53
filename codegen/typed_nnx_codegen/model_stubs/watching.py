"""``--watch``: run again when a source file is saved."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from typed_nnx_codegen.model_stubs.models import Models

# Seconds between two looks at the files.
INTERVAL = 0.5

Times = Mapping[Path, tuple[int, int]]


def source_files(sources: Sequence[str], models: Models) -> frozenset[Path]:
    """Return the files that the overlay depends on: those named and those with models in them."""
    named = [Path(name) for name in sources]
    known = [Path(info.path) for info in models.classes.values() if info.path]
    broken = [Path(problem.path) for problem in models.problems if problem.path]
    folders = [path for path in named if path.is_dir()] + [path.parent for path in known]
    outermost = [folder for folder in set(folders) if set(folder.parents).isdisjoint(folders)]
    inside = [file for folder in outermost for file in folder.rglob("*.py")]
    return frozenset(path for path in [*named, *known, *broken, *inside] if path.suffix == ".py")


def times(files: frozenset[Path]) -> Times:
    """Return when each file was written and how long it is; files that are gone are left out."""
    found = {}
    for path in files:
        try:
            status = path.stat()
        except OSError:
            continue
        found[path] = status.st_mtime_ns, status.st_size
    return found


def look(sources: Sequence[str], models: Models) -> Times:
    """Return the times of all files that the overlay depends on."""
    return times(source_files(sources, models))


def wait_for_change(
    seen: Times, now: Callable[[], Times], wait: Callable[[float], None] = time.sleep
) -> Times:
    """Return after a change, once the files have been left alone for one look.

    Args:
        seen: The times when the files were last read, or shortly before.
        now: Returns the times.
        wait: Waits for some seconds.

    Returns:
        The new times.
    """
    current = now()
    # A file that only the last run led to has been read as it is.
    seen = {**current, **seen}
    while current == seen:
        wait(INTERVAL)
        current = now()
    settled = False
    while not settled:  # an editor that saves all files may still be at it
        seen = current
        wait(INTERVAL)
        current = now()
        settled = current == seen
    return current


def with_last_good(models: Models, last: Models | None) -> Models:
    """Return the models with those that a broken file had when it could last be read.

    While somebody types, a file is broken most of the time; its State classes stay meanwhile.
    """
    broken = {problem.path for problem in models.problems}
    if last is None or not broken:
        return models
    kept = {name: info for name, info in last.classes.items() if info.path in broken}
    if not kept:
        return models
    roots = [name for name in last.roots if name in kept and name not in models.roots]
    # What the kept classes refer to may have come from the broken file alone.
    classes = {**last.classes, **models.classes} | {
        name: info for name, info in kept.items() if name not in models.classes
    }
    return dataclasses.replace(models, classes=classes, roots=(*models.roots, *roots))
