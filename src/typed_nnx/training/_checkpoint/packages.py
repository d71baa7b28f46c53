"""The optional packages that checkpoints need, imported when they are used, and kept quiet."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from typed_nnx.errors import MissingPackageError

# The packages have no types that checkers follow: Any.


def orbax(function: str) -> Any:
    """Return the module ``orbax.checkpoint``.

    Raises:
        MissingPackageError: It is not installed.
    """
    try:
        import orbax.checkpoint
    except ImportError as error:
        raise MissingPackageError(function, "orbax-checkpoint", "checkpoint") from error
    return orbax.checkpoint


def safetensors(function: str) -> Any:
    """Return the module ``safetensors``.

    Raises:
        MissingPackageError: It is not installed.
    """
    try:
        import safetensors
        import safetensors.numpy
    except ImportError as error:
        raise MissingPackageError(function, "safetensors", "checkpoint") from error
    return safetensors


def folder_of(path: str | os.PathLike[str]) -> Any:
    """Return a path as orbax has it (`etils.epath.Path`): absolute, or in a bucket."""
    from etils import epath  # type: ignore[import-untyped]  # etils has no types

    found: Any = epath.Path(path)
    text = str(found)
    return found if "://" in text else epath.Path(os.path.abspath(text))


class _Quiet(logging.Filter):
    """Drops what orbax logs while we run it: what matters comes back as an exception."""

    def __init__(self) -> None:
        super().__init__()
        self.users = 0
        self.lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        return f"{os.sep}orbax{os.sep}" not in record.pathname

    def enter(self) -> None:
        with self.lock:
            self.users += 1
            if self.users == 1:
                logging.getLogger("absl").addFilter(self)

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if not self.users:
                logging.getLogger("absl").removeFilter(self)


_quiet = _Quiet()


@contextmanager
def quiet() -> Iterator[None]:
    """Keep orbax from logging inside the block."""
    _quiet.enter()
    try:
        yield
    finally:
        _quiet.leave()
