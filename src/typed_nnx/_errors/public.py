"""The name under which exceptions are known."""

from __future__ import annotations

from typing import TypeVar

E = TypeVar("E", bound=type[BaseException])


def public(cls: E) -> E:
    """Give an exception class its public home: tracebacks and pickles name `typed_nnx.errors`."""
    cls.__module__ = "typed_nnx.errors"
    return cls
