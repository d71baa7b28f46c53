"""Where in the source a module is called: the frame, the line, and the columns of the call."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any, Final

import flax
import flax.linen as nn
import jax

_OURS: Final = Path(__file__).parent
_STDLIB: Final = Path(sysconfig.get_path("stdlib"))


@dataclass(frozen=True)
class Site:
    """Where a call stands.

    Attributes:
        file: The file.
        line: The line where the call begins, from 1.
        column: The column where it begins, in UTF-8 bytes from 0; -1 where Python has none.
        end_line: The line where it ends.
        end_column: The column behind its end.
        function: The qualified name of the function that it is in: `Net.__call__`.
        parent: The class of the module whose method it is in; empty in any other function.
        via: The Linen classes, outermost first, that stand between: `Sequential` where it calls a
            layer.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str
    parent: str
    via: tuple[str, ...] = ()


def site_of_call() -> Site | None:
    """Return where the user's code makes the call that is being intercepted, None if nowhere."""
    via: list[str] = []
    for frame in _frames():
        library = _library(frame.f_code.co_filename)
        if library == "":
            return _site(frame, tuple(via))
        module = frame.f_locals.get("self")
        # The layers of Linen that call others; what runs every call is in the base class.
        if library == "flax" and isinstance(module, nn.Module):
            owner = _owner(type(module), frame)
            if owner is not None and owner is not nn.Module and via[:1] != [owner.__name__]:
                via.insert(0, owner.__name__)
    return None


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back


@lru_cache(maxsize=1024)
def _library(filename: str) -> str:
    """Return which library a file is of; empty for the user's code."""
    if filename.startswith("<"):
        return "generated"
    path = Path(filename)
    for name, folder in (
        ("flax", Path(flax.__file__).parent),
        ("jax", Path(jax.__file__).parent),
        ("ours", _OURS),
    ):
        if folder in path.parents:
            return name
    installed = {"site-packages", "dist-packages"} & set(path.parts)
    return "stdlib" if _STDLIB in path.parents and not installed else ""


def _owner(cls: type, frame: FrameType) -> type | None:
    name = frame.f_code.co_name
    for base in cls.__mro__:
        member: Any = vars(base).get(name)
        while member is not None:
            if getattr(member, "__code__", None) is frame.f_code:
                return base
            member = getattr(member, "__wrapped__", None)
    return None


def _site(frame: FrameType, via: tuple[str, ...]) -> Site:
    line, end_line, column, end_column = _position(frame)
    module = frame.f_locals.get("self")
    return Site(
        frame.f_code.co_filename,
        line,
        column,
        end_line,
        end_column,
        frame.f_code.co_qualname,
        type(module).__name__ if isinstance(module, nn.Module) else "",
        via,
    )


def _position(frame: FrameType) -> tuple[int, int, int, int]:
    for index, position in enumerate(frame.f_code.co_positions()):
        if index == frame.f_lasti // 2:
            line, end_line, column, end_column = position
            if line is not None and end_line is not None:
                start = -1 if column is None else column
                return line, end_line, start, -1 if end_column is None else end_column
    return frame.f_lineno, frame.f_lineno, -1, -1
