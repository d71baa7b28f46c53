"""The identity of the current jax trace: the only file that touches jax's private trace context.

Reading it must cost nanoseconds, because every write to a Variable does. jax offers a public
equivalent, `jax.core.get_opaque_trace_state`, which costs microseconds and is the fallback.
"""

from __future__ import annotations

from typing import Any

import jax.core

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


def current_trace() -> Trace:
    """Return the token of the current trace of this thread."""
    return context.trace
