"""Work that several workers of a test run need is done by the first that asks for it."""

from __future__ import annotations

import fcntl
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait until no other process holds the lock `path`; it is free again when a process dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def once(name: str, folder: Path, work: Callable[[], Any]) -> Any:
    """Return the result of `work`, which is done by the first caller that shares `folder`.

    Args:
        name: What the work is called.
        folder: Holds the result for the other callers.
        work: Returns what JSON can hold.
    """
    result = folder / f"{name}.json"
    with locked(folder / f"{name}.lock"):
        if not result.exists():
            result.write_text(json.dumps(work()), encoding="utf-8")
    return json.loads(result.read_text(encoding="utf-8"))
