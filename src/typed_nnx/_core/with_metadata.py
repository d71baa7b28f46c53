"""`with_metadata`: initializers whose arrays come with metadata for their Variable."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeAlias, TypeVar

from typed_nnx._core.metadata import Hook
from typed_nnx._core.variable_metadata import VariableMetadata

A = TypeVar("A")
P = ParamSpec("P")


Hooks: TypeAlias = Hook | Sequence[Hook]
"""One function of a Variable and a value or axis, or several."""


def with_metadata(
    initializer: Callable[P, A],
    on_set_value: Hooks = (),
    on_get_value: Hooks = (),
    on_create_value: Hooks = (),
    on_add_axis: Hooks = (),
    on_remove_axis: Hooks = (),
    **metadata: Any,
) -> Callable[P, VariableMetadata[A]]:
    """Return an initializer whose result carries metadata to the Variable made of it.

    Args:
        initializer: The initializer.
        on_set_value: What a new value goes through; a function or several, as for all hooks.
        on_get_value: What a value goes through when it is read.
        on_create_value: What the first value goes through.
        on_add_axis: Called when a transform adds an axis.
        on_remove_axis: Called when a transform takes an axis away.
        **metadata: Metadata.
    """
    hooks = {
        "on_set_value": _as_tuple(on_set_value),
        "on_get_value": _as_tuple(on_get_value),
        "on_create_value": _as_tuple(on_create_value),
        "on_add_axis": _as_tuple(on_add_axis),
        "on_remove_axis": _as_tuple(on_remove_axis),
    }

    @functools.wraps(initializer)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> VariableMetadata[A]:
        return VariableMetadata(initializer(*args, **kwargs), metadata=dict(metadata), **hooks)

    return wrapped


def _as_tuple(hooks: Any) -> tuple[Any, ...]:
    return tuple(hooks) if isinstance(hooks, list | tuple) else (hooks,)
