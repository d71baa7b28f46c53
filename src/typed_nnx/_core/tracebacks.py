"""Tracebacks without frames of this package, as jax shows them without its own.

jax is told that the package is a library: its tracebacks, and the lines that it gives for leaked
tracers, operations of a compiled program and profiles, name the user's code. What jax does not see,
the call of a transformed function, `hides_frames` does. ``JAX_TRACEBACK_FILTERING=off`` shows all.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, TypeVar

import jax
from jax.extend import source_info_util

F = TypeVar("F", bound=Callable[..., Any])

# With the separator: there are other packages whose names begin like that of this one.
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

_NOTE = (
    "--------------------\nFor simplicity, frames of typed_nnx are left out of this traceback. Set "
    "JAX_TRACEBACK_FILTERING=off to include them."
)


def _register() -> None:
    source_info_util.register_exclusion(_PACKAGE)
    try:
        from jax._src.traceback_util import (
            register_exclusion,
        )  # private: may be gone in another jax
    except ImportError:
        return
    register_exclusion(_PACKAGE)


_register()


def hide_frames(error: BaseException) -> None:
    """Remove the frames of this package from the traceback of an error, in an ``except`` block.

    A bare ``raise`` then leaves the frame of that block out as well.
    """
    if jax.config.jax_traceback_filtering in ("off", "tracebackhide"):  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # jax's options have no types
        return
    traceback: TracebackType | None = None
    entries = list(_entries(error.__traceback__))
    for entry in reversed(entries):
        frame = entry.tb_frame
        if not frame.f_code.co_filename.startswith(_PACKAGE):
            traceback = TracebackType(traceback, frame, entry.tb_lasti, entry.tb_lineno)
    error.__traceback__ = traceback
    is_explained = type(error).__module__.startswith("typed_nnx.")
    if not is_explained and not getattr(error, "__notes__", None):
        error.add_note(_NOTE)


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def hides_frames(function: F) -> F:
    """Leave the frames of this package out of the tracebacks of what a function raises."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            hide_frames(error)
            raise

    return call  # type: ignore[return-value]  # it has the signature of the function
