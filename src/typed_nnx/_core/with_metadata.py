"""`with_metadata`: initializers whose arrays come with metadata for their Variable."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from typed_nnx._core.metadata import HOOKS
from typed_nnx._core.variable_metadata import VariableMetadata

A = TypeVar("A")
P = ParamSpec("P")


def with_metadata(initializer: Callable[P, A], **metadata: Any) -> Callable[P, VariableMetadata[A]]:
    """Return an initializer whose result carries metadata to the Variable made of it.

    Args:
        initializer: The initializer.
        **metadata: Metadata and hooks (``on_set_value``, ...: a function or several).
    """
    hooks = {name: _as_tuple(metadata.pop(name)) for name in HOOKS if name in metadata}

    @functools.wraps(initializer)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> VariableMetadata[A]:
        return VariableMetadata(initializer(*args, **kwargs), metadata=dict(metadata), **hooks)

    return wrapped


def _as_tuple(hooks: Any) -> tuple[Any, ...]:
    return tuple(hooks) if isinstance(hooks, list | tuple) else (hooks,)
