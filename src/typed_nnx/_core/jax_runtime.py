"""The identity of the current jax trace: the only file that touches jax's private trace context.

Reading it must cost nanoseconds, because every write to a Variable does. jax offers a public
equivalent, `jax.core.get_opaque_trace_state`, which costs microseconds and is the fallback.
"""

from __future__ import annotations

import dis
import functools
import gc
import os
import sys
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any, TypeGuard, TypeVar

import jax
import jax.core

_DEPTH = 12


def where(target: object) -> str | None:
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


def _climb(target: object, depth: int) -> tuple[str, Any]:
    if depth == 0:
        return "", target
    for parent, step in _holders(target):
        above, owner = _climb(parent, depth - 1)
        return above + step, owner
    return "", target


def _holders(target: object) -> Iterator[tuple[Any, str]]:
    for holder in gc.get_referrers(target):
        attributes = getattr(holder, "__dict__", None)
        if attributes is not None and hasattr(type(holder), "_nnx_attributes"):
            yield from _named(holder, attributes, target)
        elif type(holder) is dict:
            for owner in gc.get_referrers(holder):
                if hasattr(type(owner), "_nnx_attributes") and owner.__dict__ is holder:
                    yield from _named(owner, holder, target)


def _named(owner: object, attributes: dict[str, Any], target: object) -> Iterator[tuple[Any, str]]:
    for name, value in attributes.items():
        if value is target:
            yield owner, f"[{name}]" if name.isdigit() else f".{name}"


#: The type of a mutable array reference of jax.
ArrayRef = jax.Ref


def is_array_ref(x: object) -> TypeGuard[jax.Ref]:
    """Whether `x` is a mutable array reference."""
    return isinstance(x, jax.Ref)


def array_ref(value: object, /) -> Any:
    """Return a new array reference that holds `value` (any array)."""
    return jax.new_ref(value)


new_array_ref = array_ref


# The trace is an opaque token: it is compared, never used.
Trace = Any


class _OpaqueContext:
    """The public way to ask for the trace, in the shape of jax's private context."""

    __slots__ = ()

    @property
    def trace(self) -> Trace:
        """The token of the current trace; equal tokens mean the same trace."""
        opaque: Any = jax.core.get_opaque_trace_state  # jax has no types for it
        return opaque(convention="nnx")


def _find_context() -> Any:
    try:
        from jax._src.core import trace_ctx  # private: may be gone in another jax
    except ImportError:
        return _OpaqueContext()
    return trace_ctx if hasattr(trace_ctx, "trace") else _OpaqueContext()


# `context.trace` is the current trace of this thread. Compare with `!=`: it is identity for jax's
# own traces and equality for the tokens of the fallback.
context: Any = _find_context()


F = TypeVar("F", bound=Callable[..., Any])

# With the separator: there are other packages whose names begin like that of this one.
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

_NOTE = (
    "--------------------\nFor simplicity, frames of typed_nnx are left out of this traceback. Set "
    "JAX_TRACEBACK_FILTERING=off to include them."
)


def _register() -> None:
    try:
        # Private, and may be gone in another jax. The public `jax.extend` has the first of the two,
        # and imports Pallas, which takes 40 ms.
        from jax._src import source_info_util, traceback_util
    except ImportError:
        from jax.extend import source_info_util as public

        public.register_exclusion(_PACKAGE)
    else:
        source_info_util.register_exclusion(_PACKAGE)
        traceback_util.register_exclusion(_PACKAGE)


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
