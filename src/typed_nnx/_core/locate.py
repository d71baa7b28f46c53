"""Where in a model an object sits, for error messages."""

from __future__ import annotations

import dis
import gc
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

_DEPTH = 12


def where(target: Any) -> str | None:
    """Return the path to an object from the outermost object that holds it, or None.

    It is found through the garbage collector, slowly: only for the text of an error.
    """
    path, owner = _climb(target, _DEPTH)
    return f"{type(owner).__name__}{path}" if owner is not target else None


def under_construction() -> str | None:
    """Return the path to the attribute that the constructors that run now are about to set, or None.

    It is read from the frames of the call, slowly: only for the text of an error. An element of a
    list that is being made has the path of the list.
    """
    frame: FrameType | None = sys._getframe(1)
    path, outermost = "", ""
    while frame is not None:
        code = frame.f_code
        owner = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
        name = _assigned(frame) if hasattr(type(owner), "_nnx_attributes") else None
        if name is not None:
            path, outermost = f".{name}{path}", type(owner).__name__
        frame = frame.f_back
    return f"{outermost}{path}" if path else None


def _assigned(frame: FrameType) -> str | None:
    """Return the attribute that the statement which runs in a frame assigns, if it does."""
    starts = [(line or 0, column or 0) for line, _, column, _ in frame.f_code.co_positions()]
    for later in dis.get_instructions(frame.f_code):
        if later.offset > frame.f_lasti and later.opname == "STORE_ATTR":
            # What a statement assigns to stands before what it computes.
            is_its = starts[later.offset // 2] < starts[frame.f_lasti // 2]
            return str(later.argval) if is_its else None
    return None


def stacklevel_of_caller() -> int:
    """Return the ``stacklevel`` with which a warning names the line outside of this library."""
    frame, count = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("typed_nnx."):
        frame, count = frame.f_back, count + 1
    return count


def _climb(target: Any, depth: int) -> tuple[str, Any]:
    if depth == 0:
        return "", target
    for parent, step in _holders(target):
        above, owner = _climb(parent, depth - 1)
        return above + step, owner
    return "", target


def _holders(target: Any) -> Iterator[tuple[Any, str]]:
    for holder in gc.get_referrers(target):
        attributes = getattr(holder, "__dict__", None)
        if attributes is not None and hasattr(type(holder), "_nnx_attributes"):
            yield from _named(holder, attributes, target)
        elif type(holder) is dict:
            for owner in gc.get_referrers(holder):
                if hasattr(type(owner), "_nnx_attributes") and owner.__dict__ is holder:
                    yield from _named(owner, holder, target)


def _named(owner: Any, attributes: dict[str, Any], target: Any) -> Iterator[tuple[Any, str]]:
    for name, value in attributes.items():
        if value is target:
            yield owner, f"[{name}]" if name.isdigit() else f".{name}"
